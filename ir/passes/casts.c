// Simplifies the casts of half precision once the gradients are there: no value is cast twice or
// rounded twice, what moves elements moves halves, a parameter's gradient isn't rounded, and what
// is kept in a half isn't kept in f32 for a sum.
//
// Iterations stay alike. The first one of a class may read f32 where the others read the halves of
// the one before. Then all of them cast what they read, and look no further.
#include <string.h>

#include "ir/classes.h"
#include "ir/internal.h"

// Facts of a value of the old graph.
typedef struct Fact {
    bool is_gradient;  // it is a parameter's gradient, or only adds to one
    DType half;        // a backward node casts it to this half
    int uses, sums;    // readers; those that are sums or such casts
    int64_t cut;       // elements of slices of it that are cast to a half
    bool is_hidden;    // one that reads it, or an instance of it, doesn't look at it
} Fact;

// A new value in another type, among those of one value.
typedef struct Made {
    ValueId v;
    int next;  // 0: there is no other
} Made;

// Facts of a value of the new graph.
typedef struct Known {
    int made;     // the first entry of `made` that is of it; 0: none
    bool is_cut;  // slices that are cast to a half have all its elements
    bool is_hidden;
} Known;

typedef struct Casts {
    Rewrite r;
    Fact *fact;             // by old ValueId
    bool *is_wide;          // by old NodeId: the product's result is f32 instead of a half
    const bool *is_closed;  // by class: its iterations look at nothing from elsewhere, nor others
                            // into them
    NodeId *same;  // by old NodeId: the cast that makes the same in all iterations; 0: none
    Known *known;  // by new ValueId
    int n_known, cap_known;
    Made *made;  // [0] is unused
    int n_made, cap_made;
} Casts;

static bool is_move(const Node *n) { return n->op == &op_reshape || n->op == &op_transpose; }

// The value that v is only another form of.
static ValueId before_moves(const Graph *g, ValueId v)
{
    while (is_move(producer(g, v)))
        v = producer(g, v)->in[0];
    return v;
}

static bool is_cast_to_half(const Graph *g, const Node *n)
{
    return n->op == &op_cast && dtype_is_half(out(g, n)->dtype) && in(g, n, 0)->dtype == F32;
}

// ---- facts of the old graph ----

static void find_gradients(const Graph *g, Fact *fact)
{
    for (int i = 0; i < g->n_outputs; i++)
        fact[g->outputs[i].value].is_gradient |= g->outputs[i].role == OUTPUT_GRADIENT;
    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        bool adds = n->op == &op_add || n->op == &op_cast || is_move(n) ||
                    (n->op == &op_mul && n->phase == UPDATE);  // the factor of all gradients
        for (int k = 0; k < n->n_in && adds && fact[n->out[0]].is_gradient; k++)
            fact[n->in[k]].is_gradient = true;
    }
}

// Does a node in block `reader` not look at value v?
static bool hides(const Casts *c, const Graph *g, Block reader, ValueId v)
{
    Block maker = value_block(g, v);

    return (c->is_closed[reader.cls] || c->is_closed[maker.cls]) && !is_same_block(reader, maker);
}

static void find_readers(const Casts *c)
{
    const Graph *g = c->r.from;
    Fact *fact = c->fact;
    const int *uses = graph_count_uses(g->arena, g);

    for (ValueId v = 1; v < g->n_values; v++)
        fact[v].uses = uses[v];
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        ValueId v = n->n_in ? n->in[0] : 0;
        for (int k = 0; k < n->n_in; k++)
            fact[n->in[k]].is_hidden |= hides(c, g, n->block, n->in[k]);
        if (is_cast_to_half(g, n)) {
            ValueId from = before_moves(g, v);
            const Node *slice = producer(g, from);
            if (slice->op == &op_slice)
                fact[slice->in[0]].cut += value_count(value_of(g, from));
            if (n->phase == BACKWARD) {
                fact[v].half = out(g, n)->dtype;
                fact[v].sums++;
            }
        }
        fact[v].sums += n->op == &op_reduce_sum && n->phase == BACKWARD;
    }
}

// ---- closed classes ----

// A value is hidden in all iterations if it is in one, and a gradient in all or none.
static void agree(const Casts *c, NodeId i, NodeId j)
{
    const Node *x = &c->r.from->nodes[i], *y = &c->r.from->nodes[j];

    for (int k = 0; k < x->n_out; k++) {
        Fact *a = &c->fact[x->out[k]], *b = &c->fact[y->out[k]];
        a->is_hidden = b->is_hidden = a->is_hidden || b->is_hidden;
        a->is_gradient = b->is_gradient = a->is_gradient && b->is_gradient;
    }
}

// Gives the iterations of closed classes the same facts. Outputs and carries read from elsewhere.
static void close_classes(const Casts *c)
{
    const Graph *g = c->r.from;
    const ClassNodes *nodes = class_nodes(g->arena, g);

    for (int i = 0; i < g->n_outputs; i++)
        c->fact[g->outputs[i].value].is_hidden |= hides(c, g, (Block){0}, g->outputs[i].value);
    for (int i = 0; i < g->n_carries; i++)
        c->fact[g->carries[i].out].is_hidden |= hides(c, g, (Block){0}, g->carries[i].out);
    for (int k = 1; k < g->n_classes; k++) {
        const ClassNodes *x = &nodes[k];
        int n = c->is_closed[k] ? x->length * x->n_pos : 0;
        for (int i = 0; i < 2 * n; i++)  // the second time the others learn what the first one has
            agree(c, x->node[i % x->n_pos], x->node[i % n]);
    }
}

static bool is_of_half(const Graph *g, const Node *n)
{
    return n->op == &op_cast &&
           (dtype_is_half(in(g, n, 0)->dtype) || dtype_is_half(out(g, n)->dtype));
}

// Do two casts of an iteration read one value from elsewhere, for one type, in all iterations?
static bool are_same(const Casts *c, const ClassNodes *x, int p, int q)
{
    const Graph *g = c->r.from;

    for (int i = 0; i < x->length; i++) {
        const Node *a = &g->nodes[x->node[i * x->n_pos + p]];
        const Node *b = &g->nodes[x->node[i * x->n_pos + q]];
        if (!is_of_half(g, a) || !is_of_half(g, b) || a->in[0] != b->in[0] ||
            a->phase != b->phase || out(g, a)->dtype != out(g, b)->dtype ||
            !hides(c, g, a->block, a->in[0]))
            return false;
    }
    return true;
}

// Finds the casts of a closed class that another one of their iteration makes needless. Candidates
// are those of the last iteration: in the first one, more values may be equal.
static void find_same_of(Casts *c, const ClassNodes *x, int *first)
{
    const Graph *g = c->r.from;
    const NodeId *last = &x->node[(x->length - 1) * x->n_pos];

    for (int p = 0; p < x->n_pos; p++) {
        if (!is_of_half(g, &g->nodes[last[p]]))
            continue;
        int *q = &first[g->nodes[last[p]].in[0]];  // may be of another class
        bool is_same = *q < p && are_same(c, x, p, *q);
        for (int i = 0; i < x->length && is_same; i++)
            c->same[x->node[i * x->n_pos + p]] = x->node[i * x->n_pos + *q];
        *q = is_same ? *q : p;
    }
}

static void find_same(Casts *c)
{
    const Graph *g = c->r.from;
    const ClassNodes *nodes = class_nodes(g->arena, g);
    int *first = arena_array(g->arena, int, g->n_values);  // by ValueId: the position of a cast

    for (int k = 1; k < g->n_classes; k++)
        if (c->is_closed[k])
            find_same_of(c, &nodes[k], first);
}

// ---- products ----

// The index of a product's attribute `to`; -1: it has none.
static int result_attr(const Node *n)
{
    for (int i = 0; i < MAX_ATTRS && n->op && n->op->is_product && n->op->attrs[i].name; i++)
        if (!strcmp(n->op->attrs[i].name, "to"))
            return i;
    return -1;
}

// Marks the products whose halves nothing reads but a cast for a parameter's gradient.
static void find_wide(Casts *c)
{
    const Graph *g = c->r.from;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        ValueId v = n->n_in ? n->in[0] : 0;
        if (n->op != &op_cast || out(g, n)->dtype != F32 || !c->fact[n->out[0]].is_gradient)
            continue;
        while (c->fact[v].uses == 1 && is_move(producer(g, v)))
            v = producer(g, v)->in[0];
        if (c->fact[v].uses == 1 && !c->fact[v].is_hidden && result_attr(producer(g, v)) >= 0 &&
            dtype_is_half(value_of(g, v)->dtype))
            c->is_wide[value_of(g, v)->producer] = true;
    }
}

// ---- casts ----

static Known *known_of(Casts *c, ValueId v)
{
    while (c->n_known <= v)
        *arena_push(c->r.to->arena, c->known, c->n_known, c->cap_known) = (Known){0};
    return &c->known[v];
}

// Finds the value that x was made in another type, in the iteration and the phase that nodes are
// made for now; 0: there is none.
static ValueId find_made(Casts *c, ValueId x, DType to)
{
    const Graph *g = c->r.to;

    for (int i = known_of(c, x)->made; i; i = c->made[i].next) {
        const Node *n = producer(g, c->made[i].v);
        if (out(g, n)->dtype == to && n->phase == g->phase && is_same_block(n->block, g->block))
            return c->made[i].v;
    }
    return 0;
}

static ValueId note_made(Casts *c, ValueId x, ValueId y)
{
    *arena_push(c->r.to->arena, c->made, c->n_made, c->cap_made) = (Made){y, known_of(c, x)->made};
    known_of(c, x)->made = c->n_made - 1;
    return y;
}

// Do the inputs hold what halves of a type hold, as they are casts of such?
static bool are_widened(const Graph *g, const Node *n, DType half)
{
    for (int i = 0; i < n->n_in; i++) {
        const Node *x = producer(g, before_moves(g, n->in[i]));
        if (x->op != &op_cast || in(g, x, 0)->dtype != half)
            return false;
    }
    return true;
}

// Does the node only move elements, which are better moved in the other type?
static bool moves(Casts *c, const Node *n, DType to)
{
    return is_move(n) || (n->op == &op_concat && are_widened(c->r.to, n, to)) ||
           (n->op == &op_slice && dtype_is_half(to) && known_of(c, n->in[0])->is_cut);
}

// x in another type: what x was cast from, if it holds the same numbers; moved elements of the
// other type; else the cast of x. It is made once.
static ValueId cast_to(Casts *c, ValueId x, DType to)
{
    Graph *g = c->r.to;
    DType type = value_of(g, x)->dtype;

    if (type == to)
        return x;
    if (hides(c, g, g->block, x))
        return make_cast(g, x, to);
    ValueId made = find_made(c, x, to);
    if (made)
        return made;
    Node n = *producer(g, x);  // nodes are moved in memory while others are made
    if (known_of(c, x)->is_hidden)
        n.op = NULL;
    if (n.op == &op_cast && dtype_is_within(in(g, &n, 0)->dtype, type))
        return cast_to(c, n.in[0], to);
    if (!n.op || !moves(c, &n, to))
        return note_made(c, x, make_cast(g, x, to));
    ValueId *in = arena_array(g->arena, ValueId, n.n_in);
    for (int i = 0; i < n.n_in; i++)
        in[i] = cast_to(c, n.in[i], to);
    return note_made(c, x, graph_node(g, n.op, n.n_in, in, n.attr));
}

// ---- the pass ----

// Copies a product with a result in f32. The views and the cast of it follow from that.
static ValueId widen_product(Casts *c, const Node *n)
{
    ValueId in[] = {c->r.map[n->in[0]], c->r.map[n->in[1]]};
    Attr attr[MAX_ATTRS];

    memcpy(attr, n->attr, sizeof attr);
    attr[result_attr(n)].i = F32;
    return graph_node(c->r.to, n->op, 2, in, attr);
}

// Sums the halves of a value that is kept in a half for all its other readers.
static ValueId sum_halves(Casts *c, const Node *n, DType half)
{
    ValueId x = cast_to(c, c->r.map[n->in[0]], half);

    return graph_node(c->r.to, n->op, 1, &x, n->attr);
}

// The largest or least of widened halves: that of the halves, widened; 0: they are none.
static ValueId extreme_half(Casts *c, const Node *n)
{
    Graph *g = c->r.to;
    const Node *x = producer(g, c->r.map[n->in[0]]);

    if (known_of(c, c->r.map[n->in[0]])->is_hidden || x->op != &op_cast ||
        !dtype_is_half(in(g, x, 0)->dtype))
        return 0;
    ValueId half = x->in[0];
    return make_cast(g, graph_node(g, n->op, 1, &half, n->attr), F32);
}

// The new value of a node of one result; 0: the node is copied as it is.
static ValueId simpler(Casts *c, NodeId i)
{
    const Graph *g = c->r.from;
    const Node *n = &g->nodes[i];
    const Fact *x = n->n_in ? &c->fact[n->in[0]] : NULL;

    rewrite_at(&c->r, i);
    if (c->same[i])
        return c->r.map[g->nodes[c->same[i]].out[0]];
    if (is_of_half(g, n))
        return cast_to(c, c->r.map[n->in[0]], out(g, n)->dtype);
    if (c->is_wide[i])
        return widen_product(c, n);
    if (n->op == &op_reduce_sum && n->phase == BACKWARD && x->half && x->sums == x->uses &&
        !x->is_hidden)
        return sum_halves(c, n, x->half);
    if ((n->op == &op_reduce_max || n->op == &op_reduce_min) && in(g, n, 0)->dtype == F32)
        return extreme_half(c, n);
    return 0;
}

static bool has_halves(const Graph *g)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (is_of_half(g, &g->nodes[i]))
            return true;
    return false;
}

static bool run(Graph *g, const bool *is_closed, Diag *d)
{
    Casts c = {.is_closed = is_closed};
    bool ok = true;

    c.r = rewrite_begin(g);
    c.fact = arena_array(g->arena, Fact, g->n_values);
    c.is_wide = arena_array(g->arena, bool, g->n_nodes);
    c.same = arena_array(g->arena, NodeId, g->n_nodes);
    *arena_push(g->arena, c.made, c.n_made, c.cap_made) = (Made){0};
    find_gradients(g, c.fact);
    find_readers(&c);
    close_classes(&c);
    find_same(&c);
    find_wide(&c);
    for (NodeId i = 1; i < g->n_nodes && ok; i++) {
        ValueId old = g->nodes[i].out[0], v = simpler(&c, i);
        if (v && c.is_wide[i])
            c.r.map[old] = v;
        else if (v)
            rewrite_put(&c.r, old, v);
        else
            ok = rewrite_copy(&c.r, i, d) != 0;
        if (!ok)
            break;
        Known *known = known_of(&c, c.r.map[old]);
        known->is_hidden |= c.fact[old].is_hidden;
        known->is_cut |= c.fact[old].cut && !known->is_hidden &&
                         c.fact[old].cut >= value_count(value_of(g, old));
    }
    ok = ok && rewrite_end(&c.r, d);
    graph_number_blocks(g);
    return ok;
}

// Closes the classes whose iterations differ. Returns whether there is one that wasn't.
static bool close_unlike(const Graph *g, bool *is_closed)
{
    bool any = false;

    for (int32_t c = 1; c < g->n_classes; c++) {
        Text why = {0};
        if (!is_closed[c] && !block_check(g, c, &why))
            is_closed[c] = any = true;
        text_free(&why);
    }
    return any;
}

bool casts(Graph *g, Diag *d)
{
    if (!has_halves(g))
        return true;
    bool *is_closed = arena_array(g->arena, bool, g->n_classes), any = false;
    for (;;) {
        Graph *before = g->n_classes > 1 ? graph_clone(g->arena, g) : NULL;
        if (!run(g, is_closed, d))
            return false;
        if (!before || !close_unlike(g, is_closed))
            break;
        *g = *before;
        any = true;
    }
    if (any)
        class_drop_unlike(g, "have different casts", d);
    return true;
}
