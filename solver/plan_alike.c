// What a plan has to treat alike.
#include "solver/plan_build.h"

static ValueId first_of(ValueId *of, ValueId v)
{
    while (of[v] != v)
        v = of[v] = of[of[v]];
    return v;
}

static void unite(ValueId *of, ValueId x, ValueId y)
{
    x = first_of(of, x);
    y = first_of(of, y);
    of[x > y ? x : y] = x > y ? y : x;
}

// By class and position, what was seen first there; 0: nothing yet.
typedef struct Places {
    int32_t **at;  // [cls][pos]
} Places;

static Places places_new(const Graph *g, bool is_of_nodes, Arena *a)
{
    Places p = {arena_array(a, int32_t *, g->n_classes)};
    int *n = arena_array(a, int, g->n_classes), count = is_of_nodes ? g->n_nodes : g->n_values;

    for (int i = 1; i < count; i++) {
        Block b = is_of_nodes ? g->nodes[i].block : value_of(g, i)->block;
        n[b.cls] = b.pos >= n[b.cls] ? b.pos + 1 : n[b.cls];
    }
    for (int k = 1; k < g->n_classes; k++)
        p.at[k] = arena_array(a, int32_t, n[k]);
    return p;
}

static int32_t place(const Places *p, Block b, int32_t id)
{
    if (!b.cls)
        return id;
    if (!p->at[b.cls][b.pos])
        p->at[b.cls][b.pos] = id;
    return p->at[b.cls][b.pos];
}

static Rest rest_of(const Graph *g, ValueId v)
{
    const Value *x = value_of(g, v);

    if (x->producer)
        return REST_ANY;
    if (x->kind == VALUE_CONSTANT || x->kind == VALUE_HYPER)
        return REST_WHOLE;
    return x->kind == VALUE_ZERO && x->fill == 0 ? REST_SUM : REST_COMPLETE;
}

static void tighten(Alike *k, ValueId v, Rest to)
{
    Rest *rest = &k->rest[k->value[v]];

    *rest = to > *rest ? to : *rest;
}

static void find_rests(Alike *k, const Graph *g, Arena *a)
{
    k->rest = arena_array(a, Rest, g->n_values);
    for (ValueId v = 1; v < g->n_values; v++)
        tighten(k, v, rest_of(g, v));
    for (int i = 0; i < g->n_outputs; i++)
        tighten(k, g->outputs[i].value, REST_COMPLETE);
}

Alike alike_find(const Graph *g, Arena *a)
{
    Alike k = {.value = arena_array(a, ValueId, g->n_values),
               .node = arena_array(a, NodeId, g->n_nodes),
               .second = arena_array(a, NodeId, g->n_nodes),
               .last = arena_array(a, NodeId, g->n_nodes)};
    Arena *scratch = arena_new();
    Places nodes = places_new(g, true, scratch), values = places_new(g, false, scratch);

    for (ValueId v = 1; v < g->n_values; v++)
        k.value[v] = v;
    for (NodeId n = 1; n < g->n_nodes; n++) {
        k.node[n] = place(&nodes, g->nodes[n].block, n);
        if (g->nodes[n].block.iter <= 1)
            k.second[k.node[n]] = n;
        k.last[k.node[n]] = n;
        for (int i = 0; i < g->nodes[n].n_out; i++)
            unite(k.value, g->nodes[n].out[i], g->nodes[k.node[n]].out[i]);
    }
    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer)
            unite(k.value, v, place(&values, value_of(g, v)->block, v));
    for (int i = 0; i < g->n_carries; i++)
        unite(k.value, g->carries[i].in, g->carries[i].out);
    for (ValueId v = 1; v < g->n_values; v++)
        k.value[v] = first_of(k.value, v);
    find_rests(&k, g, a);
    arena_free(scratch);
    return k;
}
