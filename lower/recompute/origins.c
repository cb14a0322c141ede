// Finds where the values of a recomputed graph are from. Rewriting renumbers values and nodes, but
// keeps the source of a node, also where the node is run again. So each node gets a source of its
// own before.
#include "lower/recompute/recompute.h"

Source *tag_nodes(Arena *a, Graph *g)
{
    Source *tag = arena_array(a, Source, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        Node *n = &g->nodes[i];
        tag[i] = n->source ? *n->source : (Source){0};
        n->source = &tag[i];
    }
    return tag;
}

static int output_index(const Graph *g, ValueId v)
{
    int i = 0;

    while (producer(g, v)->out[i] != v)
        i++;
    return i;
}

// Values without a producer stay in their order. Constants that nothing needs are dropped.
static void match_sources(const Graph *model, Recomputed *r)
{
    ValueId from = 0;

    for (ValueId v = 1; v < r->g->n_values; v++) {
        const Value *x = value_of(r->g, v), *old;
        if (x->producer)
            continue;
        do
            old = value_of(model, ++from);
        while (old->producer || old->name != x->name || old->data != x->data);
        r->origin[v] = from;
    }
}

Recomputed find_origins(Arena *a, const Graph *model, Graph *g, const Source *tag)
{
    Recomputed r = {g, arena_array(a, ValueId, g->n_values), arena_array(a, bool, g->n_values)};
    NodeId *from = arena_array(a, NodeId, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        from[i] = (NodeId)(g->nodes[i].source - tag);
        g->nodes[i].source = model->nodes[from[i]].source;
    }
    match_sources(model, &r);
    for (ValueId v = 1; v < g->n_values; v++) {
        if (!value_of(g, v)->producer)
            continue;
        const Node *old = &model->nodes[from[value_of(g, v)->producer]];
        r.origin[v] = old->out[output_index(g, v)];
        r.is_again[v] = producer(g, v)->phase != old->phase;
    }
    return r;
}
