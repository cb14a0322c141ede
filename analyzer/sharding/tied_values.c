// Finds the values and nodes that a plan must treat alike.
#include "analyzer/sharding/sharding.h"
#include "ir/facts.h"

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

// By class and position: the node or value of the first iteration.
static int32_t **first_instances(Arena *a, const Graph *g, bool is_of_nodes)
{
    int *n = arena_array(a, int, g->n_classes), count = is_of_nodes ? g->n_nodes : g->n_values;
    int32_t **at = arena_array(a, int32_t *, g->n_classes);

    for (int i = 1; i < count; i++) {
        Block b = is_of_nodes ? g->nodes[i].block : value_of(g, i)->block;
        n[b.cls] = b.pos >= n[b.cls] ? b.pos + 1 : n[b.cls];
    }
    for (int k = 1; k < g->n_classes; k++)
        at[k] = arena_array(a, int32_t, n[k]);
    for (int i = 1; i < count; i++) {
        Block b = is_of_nodes ? g->nodes[i].block : value_of(g, i)->block;
        if (b.cls && !b.iter)
            at[b.cls][b.pos] = i;
    }
    return at;
}

static void find_nodes(Arena *a, TiedValues *k, const Graph *g, int32_t **first_of_class)
{
    k->node = arena_array(a, NodeId, g->n_nodes);
    k->second = arena_array(a, NodeId, g->n_nodes);
    k->last = arena_array(a, NodeId, g->n_nodes);
    for (NodeId n = 1; n < g->n_nodes; n++) {
        Block b = g->nodes[n].block;
        NodeId first = k->node[n] = b.cls ? first_of_class[b.cls][b.pos] : n;
        if (!b.cls || b.iter == 1)
            k->second[first] = n;
        if (!b.cls || b.iter == g->classes[b.cls].length - 1)
            k->last[first] = n;
    }
}

static void find_values(Arena *a, TiedValues *k, const Graph *g, int32_t **first_of_class)
{
    k->value = arena_array(a, ValueId, g->n_values);
    for (ValueId v = 1; v < g->n_values; v++)
        k->value[v] = v;
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_out; i++)
            unite(k->value, g->nodes[n].out[i], g->nodes[k->node[n]].out[i]);
    for (ValueId v = 1; v < g->n_values; v++) {
        Block b = value_of(g, v)->block;
        if (!value_of(g, v)->producer && b.cls)
            unite(k->value, v, first_of_class[b.cls][b.pos]);
    }
    for (int i = 0; i < g->n_carries; i++)
        unite(k->value, g->carries[i].in, g->carries[i].out);
    for (ValueId v = 1; v < g->n_values; v++)
        k->value[v] = first_of(k->value, v);
}

static StorageRule storage_rule_of(const Graph *g, ValueId v)
{
    const Value *x = value_of(g, v);

    if (x->producer)
        return STORAGE_ANY;
    if (x->kind == VALUE_CONSTANT || x->kind == VALUE_HYPER)
        return STORAGE_REPLICATED;
    return x->kind == VALUE_ZERO && x->fill == 0 ? STORAGE_SUM : STORAGE_COMPLETE;
}

static void tighten(TiedValues *k, ValueId v, StorageRule to)
{
    StorageRule *storage_rule = &k->storage_rule[k->value[v]];

    *storage_rule = to > *storage_rule ? to : *storage_rule;
}

TiedValues tied_find(Arena *a, const Graph *g)
{
    TiedValues k = {.storage_rule = arena_array(a, StorageRule, g->n_values)};
    Arena *scratch = arena_new();

    find_nodes(a, &k, g, first_instances(scratch, g, true));
    find_values(a, &k, g, first_instances(scratch, g, false));
    const bool *is_compared = graph_compared(scratch, g);
    for (ValueId v = 1; v < g->n_values; v++) {
        tighten(&k, v, storage_rule_of(g, v));
        if (is_compared[v])
            tighten(&k, v, STORAGE_COMPLETE);
    }
    for (int i = 0; i < g->n_outputs; i++)
        tighten(&k, g->outputs[i].value, STORAGE_COMPLETE);
    arena_free(scratch);
    return k;
}

bool storage_allows(StorageRule storage_rule, const Spec *s)
{
    int partial = spec_partial(s);

    if (storage_rule == STORAGE_REPLICATED) {
        Spec whole = spec_replicated();
        return spec_equal(s, &whole);
    }
    return partial == SPEC_REPLICATED || storage_rule == STORAGE_ANY ||
           (storage_rule == STORAGE_SUM && partial == SPEC_SUM);
}

InputSources tied_input_sources(const Graph *g, const TiedValues *k, NodeId n, int i)
{
    NodeId first = k->node[n];

    if (!g->nodes[n].block.cls)
        return (InputSources){g->nodes[n].in[i], g->nodes[n].in[i], g->nodes[n].in[i]};
    return (InputSources){g->nodes[first].in[i], g->nodes[k->second[first]].in[i],
                          g->nodes[k->last[first]].in[i]};
}

ValueId tied_input_value(const Graph *g, const TiedValues *k, NodeId n, int i)
{
    InputSources f = tied_input_sources(g, k, n, i);

    if (sources_are_equal(f))
        return g->nodes[n].in[i];
    // One of the first two iterations reads a value that the class itself made: take that one.
    return value_block(g, f.first).cls != g->nodes[n].block.cls ? f.second : f.first;
}

int *tied_readers(Arena *a, const Graph *g, const TiedValues *k)
{
    int *readers = arena_array(a, int, 3 * (size_t)g->n_values);

    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && k->node[n] == n; i++)
            if (g->nodes[n].in[i])
                readers[3 * k->value[tied_input_value(g, k, n, i)] + (int)g->nodes[n].phase]++;
    return readers;
}
