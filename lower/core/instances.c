// Instances of block values and nodes: finds them by class, iteration and position, and gradients
// that all iterations have.
#include "lower/internal.h"

ClassTable *class_tables(Arena *a, const Graph *g)
{
    ClassTable *table = arena_array(a, ClassTable, g->n_classes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        if (b.cls && b.pos >= table[b.cls].n_nodes)
            table[b.cls].n_nodes = b.pos + 1;
    }
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (!x->producer && x->block.cls && x->block.pos >= table[x->block.cls].n_values)
            table[x->block.cls].n_values = x->block.pos + 1;
    }
    for (int c = 1; c < g->n_classes; c++) {
        ClassTable *t = &table[c];
        t->nodes = arena_array(a, NodeId, (int64_t)t->n_nodes * g->classes[c].length);
        t->values = arena_array(a, ValueId, (int64_t)t->n_values * g->classes[c].length);
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        if (b.cls)
            table[b.cls].nodes[(int64_t)b.iter * table[b.cls].n_nodes + b.pos] = i;
    }
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        Block b = x->block;
        if (!x->producer && b.cls)
            table[b.cls].values[(int64_t)b.iter * table[b.cls].n_values + b.pos] = v;
    }
    return table;
}

NodeId node_instance(const Lowering *l, NodeId n, int iter)
{
    Block b = l->g->nodes[n].block;
    const ClassTable *t = &l->table[b.cls];

    return b.cls ? t->nodes[(int64_t)iter * t->n_nodes + b.pos] : n;
}

ValueId value_instance(const Lowering *l, ValueId v, int iter)
{
    const Value *x = value_of(l->g, v);
    Block b = value_block(l->g, v);

    if (!b.cls)
        return v;
    if (!x->producer)
        return l->table[b.cls].values[(int64_t)iter * l->table[b.cls].n_values + b.pos];
    const Node *n = &l->g->nodes[x->producer],
               *instance = &l->g->nodes[node_instance(l, x->producer, iter)];
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] == v)
            return instance->out[i];
    return 0;
}

int *count_gradients(Arena *a, const Graph *g)
{
    int *n = arena_array(a, int, g->n_values);

    for (int i = 0; i < g->n_outputs; i++)
        n[g->outputs[i].value] += g->outputs[i].role == OUTPUT_GRADIENT;
    return n;
}

bool are_all_gradients(const Lowering *l, ValueId v)
{
    Block b = value_block(l->g, v);
    int length = b.cls ? l->g->classes[b.cls].length : 1, n = l->n_gradients[v];

    for (int i = 0; i < length; i++)
        if (l->n_gradients[value_instance(l, v, i)] != n)
            return false;
    return n > 0;
}

bool unroll_class(Lowering *l, int32_t cls)
{
    Graph *g = l->g;

    graph_write_out(g, cls);
    diag_warn(l->d, "the %d iterations of %s can't be a loop and are compiled one by one",
              g->classes[cls].length, class_label(g, cls));
    l->retries = true;
    return false;
}
