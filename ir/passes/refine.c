// The refine pass: every dim becomes the product of its atoms.
//
// Every node relates dims: by the factors of its rule, and by OpDef.relate of reshape, slice,
// concat and others. Then the graph is built again over atoms, each node by its OpDef.split. A node
// that can't be built over atoms keeps its own dims, between reshapes. So relations decide only how
// many dims are split, never what is computed.
#include <string.h>

#include "ir/operator/atoms.h"

enum {
    MAX_ROUNDS = 32,  // rounds of relating; more would split a few more dims of unusual graphs
    MAX_LIMITS = 8,   // rounds of limiting; after these no dim is split at all
};

// Dims that aren't split, because a value would have more than MAX_RANK dims or a node more than
// MAX_FACTORS factors.
typedef struct Limits {
    bool *is_whole;  // [ValueId * MAX_RANK + dim]
    bool changed;
} Limits;

// ---- relating ----

static void terms_new(const Graph *g, const Limits *l, Relation *r)
{
    r->first = arena_array(r->arena, int32_t, g->n_values);
    term_new(r, 1);
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);

        r->first[v] = r->n_terms;
        for (int i = 0; i < x->rank; i++) {
            int32_t t = term_new(r, x->dim[i]);
            if (x->dim[i] == 0 || l->is_whole[(size_t)v * MAX_RANK + (size_t)i])
                term_keep(r, t);
        }
    }
}

// Joins the dims of each factor. Forbids to split dims of blocked factors if the operator has no
// `relate`, and all dims if it can't be built over split dims.
static void relate_by_rule(const Graph *g, Relation *r)
{
    const Node *n = r->node;
    int32_t term[MAX_FACTORS] = {0};
    Rule rule;

    node_rule(r->arena, g, n, &rule);
    for (int o = 0; o < rule.n_in + rule.n_out; o++) {
        for (int i = 0; nth_operand(n, o) && i < value_of(g, nth_operand(n, o))->rank; i++) {
            int f = rule.dim[o][i];
            int32_t t = term_of(r, o, i);
            bool is_free = rule.kind[f] == FACTOR_PARALLEL || rule.kind[f] == FACTOR_SUM ||
                           rule.kind[f] == FACTOR_MAX || rule.kind[f] == FACTOR_MIN;

            if (term[f])
                term_join(r, term[f], t);
            term[f] = t;
            if (!n->op->split && !n->op->is_elementwise)
                term_keep(r, t);
            else if (!is_free && !n->op->relate)
                term_keep(r, t);
        }
    }
}

static void relate_node(const Graph *g, Relation *r, NodeId i)
{
    r->node = &g->nodes[i];
    if (r->node->op->relate)
        r->node->op->relate(g, r->node, r);
}

// Joins the dims of the two values of each carry.
static void relate_carries(const Graph *g, Relation *r)
{
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];

        for (int k = 0; k < value_of(g, c->in)->rank; k++)
            term_join(r, r->first[c->in] + k, r->first[c->out] + k);
    }
}

// Relates all nodes, forwards and backwards, until nothing changes: a split spreads from node to
// node.
static void relate_all(const Graph *g, Relation *r)
{
    for (NodeId i = 1; i < g->n_nodes; i++) {
        r->node = &g->nodes[i];
        relate_by_rule(g, r);
    }
    relate_carries(g, r);
    r->only_whole = true;
    for (NodeId i = 1; i < g->n_nodes; i++)
        relate_node(g, r, i);
    r->only_whole = false;
    r->changed = true;
    for (int round = 0; round < MAX_ROUNDS && r->changed; round++) {
        r->changed = false;
        for (NodeId i = 1; i < g->n_nodes; i++)
            relate_node(g, r, i);
        for (NodeId i = g->n_nodes - 1; r->changed && i > 0; i--)
            relate_node(g, r, i);
    }
}

// Sets *f to the dims of value v over atoms. False if there are too many.
static bool refined_of(const Graph *g, Relation *r, ValueId v, Refined *f)
{
    const Value *x = value_of(g, v);
    int n = 0;

    for (int i = 0; i < x->rank; i++) {
        f->first[i] = (int8_t)n;
        n += term_sizes(r, r->first[v] + i, f->dim + n, MAX_RANK - n);
        if (n > MAX_RANK)
            return false;
    }
    f->first[x->rank] = (int8_t)n;
    f->rank = n;
    return true;
}

static void limit_value(const Graph *g, ValueId v, Limits *l)
{
    for (int i = 0; i < value_of(g, v)->rank; i++)
        l->is_whole[(size_t)v * MAX_RANK + (size_t)i] = true;
    l->changed = true;
}

// The number of atoms of a node's factors. Atoms of a reshape count twice, because its rule has a
// factor for each dim of the input and another one for each dim of the output.
static int factor_count(Arena *a, const Graph *g, const Node *n, const Refined *refined)
{
    bool seen[MAX_FACTORS] = {false};
    int count = 0;
    Rule rule;

    node_rule(a, g, n, &rule);
    for (int o = 0; o < rule.n_in + rule.n_out; o++) {
        ValueId v = nth_operand(n, o);

        for (int i = 0; v && i < value_of(g, v)->rank; i++) {
            int f = rule.dim[o][i];
            if (!seen[f])
                count += refined[v].first[i + 1] - refined[v].first[i];
            seen[f] = true;
        }
    }
    return count;
}

// The dims of all values over atoms, by ValueId. Sets limits where there are too many.
static Refined *refined_all(const Graph *g, Relation *r, Limits *l)
{
    Refined *refined = arena_array(r->arena, Refined, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        if (!refined_of(g, r, v, &refined[v]))
            limit_value(g, v, l);
    for (NodeId i = 1; i < g->n_nodes && !l->changed; i++) {
        const Node *n = &g->nodes[i];

        if (factor_count(r->arena, g, n, refined) > MAX_FACTORS)
            for (int o = 0; o < n->n_in + n->n_out; o++)
                if (nth_operand(n, o))
                    limit_value(g, nth_operand(n, o), l);
    }
    return refined;
}

static Refined *refined_within_limits(Arena *a, const Graph *g)
{
    size_t n = (size_t)g->n_values * MAX_RANK;
    Limits l = {.is_whole = arena_array(a, bool, n)};
    Refined *refined;

    for (int round = 1;; round++) {
        Relation r = {.arena = a};

        l.changed = false;
        terms_new(g, &l, &r);
        relate_all(g, &r);
        refined = refined_all(g, &r, &l);
        if (!l.changed)
            return refined;
        if (round == MAX_LIMITS)
            memset(l.is_whole, true, n);
    }
}

// ---- rebuilding ----

static bool is_refined(const Value *v, const Refined *f)
{
    return v->rank != f->rank || memcmp(v->dim, f->dim, sizeof *v->dim * (size_t)v->rank) != 0;
}

static bool same_atoms(const Refined *x, int i, const Refined *y, int j)
{
    int n = x->first[i + 1] - x->first[i];

    return y->first[j + 1] - y->first[j] == n &&
           memcmp(x->dim + x->first[i], y->dim + y->first[j], sizeof *x->dim * (size_t)n) == 0;
}

// Do all dims of a factor that have one size have the same atoms? They don't where relating them
// met a conflict.
static bool is_consistent(Arena *a, const Graph *g, const Node *n, const Split *s)
{
    int operand_of[MAX_FACTORS], dim_of[MAX_FACTORS];
    bool seen[MAX_FACTORS] = {false};
    Rule rule;

    node_rule(a, g, n, &rule);
    for (int o = 0; o < rule.n_in + rule.n_out; o++) {
        const Value *v = value_of(g, nth_operand(n, o));

        for (int i = 0; i < v->rank; i++) {
            int f = rule.dim[o][i];

            if (!seen[f]) {
                seen[f] = true;
                operand_of[f] = o;
                dim_of[f] = i;
            } else if (v->dim[i] == value_of(g, nth_operand(n, operand_of[f]))->dim[dim_of[f]] &&
                       !same_atoms(&s->operand[o], i, &s->operand[operand_of[f]], dim_of[f])) {
                return false;
            }
        }
    }
    return true;
}

// Builds the node over its own dims, between reshapes.
static ValueId build_merged(Arena *a, Rewrite *r, const Node *n, const Split *s)
{
    ValueId *x = arena_array(a, ValueId, n->n_in + 1);

    for (int i = 0; i < n->n_in; i++) {
        x[i] = s->in[i];
        if (x[i] && is_refined(in(r->from, n, i), &s->operand[i]))
            x[i] = make_reshape(r->to, x[i], in(r->from, n, i)->rank, in(r->from, n, i)->dim);
    }
    return graph_node(r->to, n->op, n->n_in, x, n->attr);
}

static ValueId build_node(Arena *a, Rewrite *r, const Node *n, const Split *s)
{
    ValueId y = 0;

    if (is_consistent(a, r->from, n, s)) {
        if (n->op->split)
            y = n->op->split(r->to, n, s);
        else if (n->op->is_elementwise)
            y = graph_node(r->to, n->op, n->n_in, s->in, n->attr);
    }
    return y ? y : build_merged(a, r, n, s);
}

// Maps the outputs of an old node to those of the node that made y.
static void map_outputs(Rewrite *r, const Node *n, const Refined *refined, ValueId y)
{
    for (int i = 0; i < n->n_out; i++) {
        ValueId v = n->out[i], w = i ? graph_output_of(r->to, y, i) : y;

        if (is_refined(value_of(r->to, w), &refined[v]))
            w = make_reshape(r->to, w, refined[v].rank, refined[v].dim);
        Value *x = value_edit(r->to, w);
        if (!x->name && x->producer)
            x->name = value_of(r->from, v)->name;
        r->map[v] = w;
    }
}

static bool refine_node(Arena *a, Rewrite *r, NodeId i, const Refined *refined, Diag *d)
{
    const Node *n = &r->from->nodes[i];
    int count = n->n_in + n->n_out;
    Refined *o = arena_array(a, Refined, count);
    ValueId *x = arena_array(a, ValueId, n->n_in + 1);
    bool any = false;

    for (int k = 0; k < count; k++) {
        ValueId v = nth_operand(n, k);

        if (k < n->n_in)
            x[k] = r->map[v];
        if (!v)
            continue;
        o[k] = refined[v];
        any |= is_refined(value_of(r->from, v), &o[k]);
    }
    if (!any)
        return rewrite_copy(r, i, d) != 0;
    rewrite_at(r, i);
    ValueId y = build_node(a, r, n, &(Split){.in = x, .operand = o});
    if (!y)
        return false;
    map_outputs(r, n, refined, y);
    return true;
}

// Gives `v` the own shape of `x`. False if it has another one already.
static bool set_own(Value *v, const Value *x)
{
    if (same_own(v, x))
        return true;
    if (v->own_rank >= 0)
        return false;
    v->own_rank = x->own_rank < 0 ? x->rank : x->own_rank;
    memcpy(v->own_dim, x->own_rank < 0 ? x->dim : x->own_dim, sizeof v->own_dim);
    return true;
}

static void refine_sources(Rewrite *r, const Refined *refined)
{
    for (ValueId v = 1; v < r->from->n_values; v++) {
        const Value *x = value_of(r->from, v);

        if (!r->map[v] || !is_refined(x, &refined[v]))
            continue;
        Value *y = value_edit(r->to, r->map[v]);
        y->rank = refined[v].rank;
        memcpy(y->dim, refined[v].dim, sizeof y->dim);
        if (x->kind != VALUE_CONSTANT)
            set_own(y, x);
    }
}

// Gives outputs their own shapes. If a value is two outputs of different shapes, the second one
// gets a reshape of its own. So does an output that is an input, parameter or buffer of another
// shape, because that one keeps the model's shape.
static void refine_outputs(Rewrite *r)
{
    for (int i = 0; i < r->from->n_outputs; i++) {
        ValueId v = r->from->outputs[i].value, w = r->map[v];
        const Value *x = value_of(r->from, v);
        Value *y = value_edit(r->to, w);
        bool is_source = !y->producer && y->kind != VALUE_CONSTANT, is_shared = false;

        for (int k = 0; k < i; k++)
            is_shared |= r->map[r->from->outputs[k].value] == w &&
                         !same_shape(value_of(r->from, r->from->outputs[k].value), x);
        if (!is_shared && (is_source ? same_own(y, x) : set_own(y, x)))
            continue;
        r->map[v] = make_reshape(r->to, w, x->rank, x->dim);
    }
}

// If relating the two values of a carry met a conflict, reshapes the written one to the other's
// dims.
static void refine_carries(Rewrite *r)
{
    for (int i = 0; i < r->from->n_carries; i++) {
        const Carry *c = &r->from->carries[i];
        const Value *x = value_of(r->to, r->map[c->in]);

        if (!same_shape(x, value_of(r->to, r->map[c->out])))
            r->map[c->out] = make_reshape(r->to, r->map[c->out], x->rank, x->dim);
    }
}

bool refine(Graph *g, Diag *d)
{
    Arena *a = arena_new();
    Refined *refined = refined_within_limits(a, g);
    Rewrite r = rewrite_begin(g);
    bool ok = true;

    refine_sources(&r, refined);
    for (NodeId i = 1; ok && i < g->n_nodes; i++)
        ok = refine_node(a, &r, i, refined, d);
    if (ok) {
        refine_carries(&r);
        refine_outputs(&r);
    }
    arena_free(a);
    return rewrite_end(&r, d) && ok;
}
