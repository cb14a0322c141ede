// Finds the initial values of loops: they replace the missing neighbour of the outermost iteration.
//
// An iteration may read a value of the one before it or after it. At one end of the class there is
// no such iteration, and the node there reads a value from outside. That value is copied, before
// the loop runs, to the address of the missing iteration's instance. So all iterations read by one
// formula.
#include <string.h>

#include "lower/internal.h"

// The value that the node's instance of this iteration takes as input k.
static ValueId input_at(const Lowering *l, NodeId n, int iteration, int k)
{
    return l->g->nodes[node_instance(l, n, iteration)].in[k];
}

// Follows `*v` back through the views of its iteration and, in step, `*w`, the same input at the
// end of the class. Afterwards `*w` is the value from outside that replaces an instance of `*v`.
static void skip_views(const Lowering *l, ValueId *v, ValueId *w)
{
    const Graph *g = l->g;

    for (;;) {
        const Node *a = producer(g, *v), *b = producer(g, *w);
        if (!value_of(g, *v)->producer || !value_of(g, *w)->producer || !is_view_node(l, a) ||
            !is_view_node(l, b) || a->block.pos != b->block.pos || a->block.cls != b->block.cls)
            return;
        *v = a->in[0];
        *w = b->in[0];
    }
}

// The initial value that input k of the region's node `n` needs. `delta` 0: it needs none.
static InitialValue initial_of(const Lowering *l, int r, NodeId n, int k)
{
    const Region *x = &l->regions[r];
    int last = l->g->classes[x->cls].length - 1;
    Operand o = input_operand(l, r, n, k);

    if (!l->g->nodes[n].in[k] || !o.is_instance || !o.delta)
        return (InitialValue){0};
    int end = o.delta < 0 ? 0 : last;
    int inside = x->representative + o.delta >= 0 && x->representative + o.delta <= last
                     ? x->representative
                     : x->other;
    ValueId v = input_at(l, n, inside, k), w = input_at(l, n, end, k);
    skip_views(l, &v, &w);
    return (InitialValue){
        .region = r, .to = value_instance(l, v, end), .from = w, .delta = o.delta};
}

// Does `w` lie in its base as `v` does in its own?
static bool same_layout(const View *v, const View *w, int rank)
{
    return v->offset == w->offset && !memcmp(v->stride, w->stride, sizeof(int64_t) * (size_t)rank);
}

// Can both initial values be the missing iteration? They can if they are the same bytes: one value,
// or views of one value that lie in it as the instance's views do.
static bool is_compatible(const Lowering *l, const InitialValue *a, const InitialValue *b)
{
    const View *to_a = &l->view[a->to], *to_b = &l->view[b->to];
    const View *from_a = &l->view[a->from], *from_b = &l->view[b->from];

    if (to_a->base != to_b->base || a->delta != b->delta)
        return true;
    if (a->to == b->to)
        return a->from == b->from;
    return from_a->base == from_b->base && same_layout(to_a, from_a, value_of(l->g, a->to)->rank) &&
           same_layout(to_b, from_b, value_of(l->g, b->to)->rank);
}

// Would different elements get one address? The instance may repeat an element where the initial
// value has many.
static bool would_alias(const Lowering *l, const InitialValue *a)
{
    const View *to = &l->view[a->to], *from = &l->view[a->from];
    const Value *v = value_of(l->g, a->to);

    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] > 1 && to->stride[i] == 0 && from->stride[i] != 0)
            return true;
    return false;
}

static bool same_initial(const InitialValue *a, const InitialValue *b)
{
    return a->to == b->to && a->from == b->from && a->delta == b->delta;
}

// Adds an initial value, unless an earlier loop has copied it already. False if its bytes have to
// hold another value, or are too few for all of it.
static bool add_initial(Lowering *l, InitialValue x)
{
    bool is_there = false;

    if (would_alias(l, &x))
        return false;
    for (int i = 0; i < l->n_initials; i++) {
        if (!is_compatible(l, &l->initials[i], &x))
            return false;
        is_there |= same_initial(&l->initials[i], &x);
    }
    if (!is_there)
        *arena_push(l->p->arena, l->initials, l->n_initials, l->cap_initials) = x;
    return true;
}

// Does the loop overwrite the neighbour's value that input k reads, before or after it reads it?
// The order of items in a loop doesn't order different iterations.
static bool is_overwritten(const Lowering *l, int r, NodeId n, int k, const ValueId *carried_to)
{
    Operand o = input_operand(l, r, n, k);
    ValueId to = l->g->nodes[n].in[k] ? carried_to[o.base] : 0;

    return to && o.is_instance && o.delta && value_of(l->g, to)->producer &&
           l->region[value_of(l->g, to)->producer] == r;
}

bool lower_initials(Lowering *l)
{
    const Graph *g = l->g;
    ValueId *carried_to = arena_array(l->p->arena, ValueId, g->n_values);

    for (int i = 0; i < g->n_carries; i++)
        carried_to[g->carries[i].in] = g->carries[i].out;
    for (int u = 0; u < l->n_order; u++) {
        int r = l->order[u] < 0 ? -l->order[u] : 0;
        for (int i = 0; r && i < l->regions[r].n_nodes; i++) {
            NodeId n = l->regions[r].nodes[i];
            if (is_view_node(l, &g->nodes[n]))
                continue;
            for (int k = 0; k < g->nodes[n].n_in; k++) {
                InitialValue x = initial_of(l, r, n, k);
                if (is_overwritten(l, r, n, k, carried_to) || (x.delta && !add_initial(l, x)))
                    return unroll_class(l, l->regions[r].cls);
            }
        }
    }
    return true;
}
