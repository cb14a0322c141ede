// Finds the values and nodes that a plan must treat alike.
#include "analyzer/sharding/sharding.h"

// Nodes that are followed from a comparison: those before them are further than a maximum and what
// is compared with it. It bounds the work.
enum { MAX_COMPARED_NODES = 64 };

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
static int32_t **places_find(const Graph *g, bool is_of_nodes, Arena *a)
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

static void find_nodes(TiedValues *k, const Graph *g, int32_t **place, Arena *a)
{
    k->node = arena_array(a, NodeId, g->n_nodes);
    k->second = arena_array(a, NodeId, g->n_nodes);
    k->last = arena_array(a, NodeId, g->n_nodes);
    for (NodeId n = 1; n < g->n_nodes; n++) {
        Block b = g->nodes[n].block;
        NodeId first = k->node[n] = b.cls ? place[b.cls][b.pos] : n;
        if (!b.cls || b.iter == 1)
            k->second[first] = n;
        if (!b.cls || b.iter == g->classes[b.cls].length - 1)
            k->last[first] = n;
    }
}

static void find_values(TiedValues *k, const Graph *g, int32_t **place, Arena *a)
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
            unite(k->value, v, place[b.cls][b.pos]);
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

// ---- comparisons ----

// The nodes whose elements a comparison reads as they are, or one by one made into others.
typedef struct Compared {
    const Graph *g;
    NodeId *node;         // a queue
    int n, *reader;       // by ValueId: the comparison's node that reads it
    NodeId *of;           // by ValueId: that comparison
    NodeId *seen;         // by NodeId: the last comparison whose queue it was in
    bool *is_read_twice;  // by ValueId: two nodes of one comparison read the float
} Compared;

static void add_node(Compared *c, NodeId n, NodeId comparison)
{
    if (!n || c->seen[n] == comparison)
        return;
    c->seen[n] = comparison;
    c->node[c->n++] = n;
}

static void read_inputs(Compared *c, NodeId id, NodeId comparison)
{
    const Node *n = &c->g->nodes[id];

    for (int k = 0; k < n->n_in; k++) {
        ValueId v = n->in[k];
        const Value *x = value_of(c->g, v);
        if (!v || !dtype_is_float(x->dtype))
            continue;
        c->is_read_twice[v] |= c->of[v] == comparison && c->reader[v] != id;
        c->of[v] = comparison;
        c->reader[v] = id;
        const OpDef *op = x->producer ? c->g->nodes[x->producer].op : NULL;
        if (op && (op->is_elementwise || op->view || op->place || op->is_choice))
            add_node(c, x->producer, comparison);
    }
}

// By ValueId: is the float read twice for one comparison? Readers of a partial sum may add its
// parts in different orders. Then `x == max(x)` could be false for the largest x, since the
// comparison and the maximum would read different bits.
static const bool *find_compared(const Graph *g, Arena *a)
{
    Compared c = {.g = g,
                  .node = arena_array(a, NodeId, g->n_nodes),
                  .reader = arena_array(a, int, g->n_values),
                  .of = arena_array(a, NodeId, g->n_values),
                  .seen = arena_array(a, NodeId, g->n_nodes),
                  .is_read_twice = arena_array(a, bool, g->n_values)};

    for (NodeId i = 1; i < g->n_nodes; i++) {
        if (!g->nodes[i].op->is_comparison)
            continue;
        c.n = 0;
        add_node(&c, i, i);
        for (int k = 0; k < c.n && k < MAX_COMPARED_NODES; k++)
            read_inputs(&c, c.node[k], i);
    }
    return c.is_read_twice;
}

TiedValues tied_find(const Graph *g, Arena *a)
{
    TiedValues k = {.storage_rule = arena_array(a, StorageRule, g->n_values)};
    Arena *scratch = arena_new();

    find_nodes(&k, g, places_find(g, true, scratch), a);
    find_values(&k, g, places_find(g, false, scratch), a);
    const bool *is_compared = find_compared(g, scratch);
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

int *tied_readers(const Graph *g, const TiedValues *k, Arena *a)
{
    int *readers = arena_array(a, int, 3 * (size_t)g->n_values);

    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && k->node[n] == n; i++)
            if (g->nodes[n].in[i])
                readers[3 * k->value[tied_input_value(g, k, n, i)] + (int)g->nodes[n].phase]++;
    return readers;
}
