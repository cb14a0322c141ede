// Finds what the choice of kept values rests on: how the forward part stores values, and what the
// backward part reads of it.
#include "ir/facts.h"
#include "lower/recompute/recompute.h"

static void count_kernels(Recompute *r)
{
    int n = 0;

    for (NodeId i = 1; i < r->g->n_nodes; i++) {
        const Node *x = &r->g->nodes[i];
        n += x->phase == FORWARD && x->op->kernel && !x->op->is_sum && !is_elementwise_work(x);
        r->kernels[i] = n;
    }
}

// Is input k of node i made in another iteration, or is it the value that replaces it at an end of
// the loop?
static bool is_loop_carried(const Recompute *r, NodeId i, int k)
{
    const Graph *g = r->g;
    const Node *n = &g->nodes[i];
    Block b = n->block, from = value_block(g, r->l.view[n->in[k]].base);

    if (from.cls && !is_same_block(from, b))
        return true;
    if (!b.cls)
        return false;
    const Node *instance = &g->nodes[node_instance(&r->l, i, b.iter ? b.iter - 1 : 1)];
    return value_block(g, r->l.view[instance->in[k]].base).cls != from.cls;
}

static void note_input(Recompute *r, NodeId i, int k)
{
    const Node *n = &r->g->nodes[i];
    ValueId b = r->l.view[n->in[k]].base, h = canonical_of(r, n->in[k]);

    if (!h)
        return;
    r->is_source[h] |= is_loop_carried(r, i, k);
    if (n->phase != FORWARD) {
        r->is_read_backward[h] = true;
        return;
    }
    bool is_direct = n->op->expr && b == n->in[k];
    r->is_chained[h] |= n->op->expr != NULL;
    r->is_stored[h] |=
        (!is_direct && !n->op->is_sum) || r->kernels[i] > r->kernels[value_of(r->g, b)->producer];
}

// Outside of classes and runs, nothing is recomputed through a value that the forward part stores
// in any case: recomputed chains stay as short as the forward part's own groups. In an iteration
// only what it hands on ends a chain.
static bool ends_chain(const Recompute *r, ValueId h)
{
    NodeId n = value_of(r->g, h)->producer;

    return !r->rerun->is_relaxed[n] &&
           (r->rerun->keeps_rest || (r->is_stored[h] && r->is_chained[h]));
}

// Is the value a parameter's half copy? It is made once a step.
static bool is_half_copy(const Recompute *r, ValueId h)
{
    const Node *n = producer(r->g, h);

    return n->op == &op_cast && dtype_is_half(out(r->g, n)->dtype) &&
           value_of(r->g, r->l.view[n->in[0]].base)->kind == VALUE_PARAMETER;
}

// Is the value a half, widened? The half has the same numbers in fewer bytes.
static bool is_widened_half(const Recompute *r, ValueId h)
{
    const Node *n = producer(r->g, h);

    return n->op == &op_cast && dtype_is_half(in(r->g, n, 0)->dtype);
}

static void find_sources(Recompute *r)
{
    const bool *is_separator = find_separators(r);
    const bool *is_compared = graph_compared(r->arena, r->g);

    for (ValueId v = 1; v < r->g->n_values; v++)
        if (r->rerun->is_handed_on[v] || is_compared[v])
            r->is_source[canonical_of(r, v)] = true;
    for (ValueId h = 1; h < r->g->n_values; h++)
        if (!is_widened_half(r, h))
            r->is_source[h] |= ends_chain(r, h) || is_half_copy(r, h) ||
                               (is_separator[h] && is_elementwise_work(producer(r->g, h)));
}

static void find_facts(Recompute *r)
{
    const Graph *g = r->g;

    count_kernels(r);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (is_view_node(&r->l, n) || !is_representative(r, n))
            continue;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k])
                note_input(r, i, k);
    }
    for (int i = 0; i < g->n_outputs; i++)
        r->is_live_out[canonical_of(r, g->outputs[i].value)] = true;
    for (int i = 0; i < g->n_carries; i++)
        r->is_live_out[canonical_of(r, g->carries[i].out)] = true;
    find_sources(r);
}

Recompute recompute_facts(const Lowering *l, const Rerun *rerun)
{
    Arena *a = l->p->arena;
    int n_values = l->g->n_values;
    Recompute r = {.l = *l,
                   .arena = a,
                   .g = l->g,
                   .rerun = rerun,
                   .kernels = arena_array(a, int, l->g->n_nodes),
                   .is_source = arena_array(a, bool, n_values),
                   .is_stored = arena_array(a, bool, n_values),
                   .is_chained = arena_array(a, bool, n_values),
                   .is_live_out = arena_array(a, bool, n_values),
                   .is_read_backward = arena_array(a, bool, n_values),
                   .is_kept = arena_array(a, bool, n_values)};

    find_inlinable(&r.l);
    find_facts(&r);
    return r;
}
