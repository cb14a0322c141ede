// Half precision: products read their operands in a half type, and sum in f32. Every rounding is a
// cast node, before and after the product; all other operators compute in f32.
#include <string.h>

#include "ir/internal.h"

typedef struct Narrowing {
    const PrecisionOptions *o;
    Rewrite r;
    bool *is_used;  // by entry of o->keep: it names a product or a parameter
} Narrowing;

// The parameter that a value is, or is a view of; NULL: neither.
static const Value *parameter_below(const Graph *g, ValueId v)
{
    const Node *n = producer(g, v);

    while (n->op && n->op->view) {
        v = n->in[0];
        n = producer(g, v);
    }
    return value_of(g, v)->kind == VALUE_PARAMETER ? value_of(g, v) : NULL;
}

// Does the glob name the node's module or a parameter that it reads?
static bool names_product(const Graph *g, const Node *n, const char *glob)
{
    const char *scope = n->source ? n->source->scope : NULL;
    bool is_named = scope && *scope && glob_match(glob, scope);

    for (int i = 0; i < n->n_in && !is_named; i++) {
        const Value *p = n->in[i] ? parameter_below(g, n->in[i]) : NULL;
        is_named = p && p->name && glob_match(glob, p->name);
    }
    return is_named;
}

static bool stays_wide(Narrowing *w, const Node *n)
{
    bool stays = false;

    for (int i = 0; i < w->o->n_keep; i++)
        if (names_product(w->r.from, n, w->o->keep[i]))
            stays = w->is_used[i] = true;
    return stays;
}

// Copies a product with its narrow operands and results in the half type, each with a cast of its
// own: gradients of an operand that several products read are then added in f32.
static bool narrow_node(Narrowing *w, NodeId i)
{
    Rewrite *r = &w->r;
    const Node *n = &r->from->nodes[i];
    ValueId *in = arena_array(r->to->arena, ValueId, n->n_in);

    rewrite_at(r, i);
    for (int k = 0; k < n->n_in; k++) {
        in[k] = r->map[n->in[k]];
        if (n->op->narrow_in >> k & 1)
            in[k] = make_cast(r->to, in[k], w->o->type);
    }
    ValueId first = graph_node(r->to, n->op, n->n_in, in, n->attr);
    for (int k = 0; k < n->n_out && first; k++) {
        ValueId y = graph_output_of(r->to, first, k);
        DType t = value_of(r->from, n->out[k])->dtype;
        rewrite_put(r, n->out[k], value_of(r->to, y)->dtype == t ? y : make_cast(r->to, y, t));
    }
    return first != 0;
}

// The names that globs may match: modules of products, and their parameters.
static int product_names(const Graph *g, const char **name)
{
    int n = 0;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *x = &g->nodes[i];
        if (!x->op->narrow_in)
            continue;
        if (x->source && x->source->scope && *x->source->scope)
            name[n++] = x->source->scope;
        for (int k = 0; k < 2; k++) {
            const Value *p = parameter_below(g, x->in[k]);
            if (p && p->name)
                name[n++] = p->name;
        }
    }
    return n;
}

static void warn_unused(const Narrowing *w, const Graph *g, Diag *d)
{
    const char **name = arena_array(g->arena, const char *, 3 * g->n_nodes);
    int n = w->o->n_keep ? product_names(g, name) : 0;

    for (int i = 0; i < w->o->n_keep; i++) {
        const char *near = w->is_used[i] ? NULL : nearest_name(w->o->keep[i], name, n);
        if (!w->is_used[i])
            diag_warn(d, "--keep-f32 '%s' names no module with a product and no parameter of one%s",
                      w->o->keep[i],
                      near ? arena_string(g->arena, " (did you mean '%.200s'?)", near) : "");
    }
}

bool precision(Graph *g, const PrecisionOptions *o, Diag *d)
{
    Narrowing w = {.o = o};

    if (!dtype_is_half(o->type))
        return true;
    w.is_used = arena_array(g->arena, bool, o->n_keep + 1);
    w.r = rewrite_begin(g);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool is_narrow = n->op->narrow_in && in(g, n, 0)->dtype == F32 && !stays_wide(&w, n);
        if (is_narrow ? !narrow_node(&w, i) : !rewrite_copy(&w.r, i, d))
            return false;
    }
    if (o->tells)
        warn_unused(&w, g, d);
    return rewrite_end(&w.r, d);
}

Precision precision_of(const Graph *g)
{
    Precision p = {0};

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (!n->op->is_product)
            continue;
        p.products++;
        if (!dtype_is_half(in(g, n, 0)->dtype))
            continue;
        p.half = in(g, n, 0)->dtype;
        p.narrow++;
    }
    return p;
}
