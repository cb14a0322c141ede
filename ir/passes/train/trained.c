// Lists the parameters that have a gradient, in an order and with labels that keep the iterations
// of block classes isomorphic.
#include <stdlib.h>
#include <string.h>

#include "ir/passes/train/training.h"

static int compare_block(const Block *a, const Block *b)
{
    if (a->cls != b->cls)
        return a->cls < b->cls ? -1 : 1;
    if (a->iter != b->iter)
        return a->iter < b->iter ? -1 : 1;
    return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static int compare(const void *a, const void *b)
{
    const Trained *x = a, *y = b;
    int order = compare_block(&x->block, &y->block);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

// Keeps a label only if every iteration of the class has a parameter at that position and
// (by_decay) all or none of them decay. Else the iterations would get different nodes.
static void drop_labels(const Graph *g, Trained *t, int n, bool by_decay)
{
    Map all = {.arena = g->arena}, decaying = {.arena = g->arena};

    for (int i = 0; i < n; i++) {
        const char *key = arena_string(g->arena, "%d %d", t[i].block.cls, t[i].block.pos);

        map_set(&all, key, map_get(&all, key) + 1);
        map_set(&decaying, key, map_get(&decaying, key) + t[i].decays);
    }
    for (int i = 0; i < n; i++) {
        Block *b = &t[i].block;
        const char *key = arena_string(g->arena, "%d %d", b->cls, b->pos);
        int count = map_get(&all, key), decay = map_get(&decaying, key);

        if (b->cls && (count != g->classes[b->cls].length || (by_decay && decay % count != 0)))
            *b = (Block){0};
    }
}

int trained_list(Graph *g, Trained **list)
{
    Map parameters = {.arena = g->arena};
    int n = 0;

    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].kind == VALUE_PARAMETER)
            map_set(&parameters, g->values[v].name, v);
    *list = arena_array(g->arena, Trained, g->n_outputs);
    for (int i = 0; i < g->n_outputs; i++) {
        const Output *o = &g->outputs[i];
        ValueId p = o->role == OUTPUT_GRADIENT ? map_get(&parameters, o->name) : 0;

        if (p)
            (*list)[n++] = (Trained){p, o->value, true, i, g->values[p].block};
    }
    qsort(*list, (size_t)n, sizeof **list, compare);
    drop_labels(g, *list, n, false);
    // Sorts again: parameters without a label come first.
    qsort(*list, (size_t)n, sizeof **list, compare);
    return n;
}

void trained_by_decay(Graph *g, const OptimizerOptions *o, Trained *list, int n, Diag *d)
{
    for (int k = 0; k < o->n_no_decay; k++) {
        bool is_used = false;

        for (int i = 0; i < n; i++)
            if (glob_match(o->no_decay[k], g->values[list[i].parameter].name)) {
                list[i].decays = false;
                is_used = true;
            }
        if (!is_used)
            diag_warn(d, "--no-decay '%s' names no parameter", o->no_decay[k]);
    }
    drop_labels(g, list, n, true);
    qsort(list, (size_t)n, sizeof *list, compare);
}

ValueId reduce_all(Graph *g, ValueId x)
{
    int64_t axes[MAX_RANK];
    int rank = value_of(g, x)->rank;

    for (int i = 0; i < rank; i++)
        axes[i] = i;
    return rank ? make_reduce_sum(g, x, rank, axes) : x;
}

ValueId hyper_value(Graph *g, const char *name, double fill)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].kind == VALUE_HYPER && strcmp(g->values[v].name, name) == 0)
            return v;
    ValueId v = graph_value(g, VALUE_HYPER, name, F32, 0, NULL);
    value_edit(g, v)->fill = fill;
    return v;
}

ValueId value_named(const Graph *g, const char *name)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name && strcmp(g->values[v].name, name) == 0)
            return v;
    return 0;
}

ValueId state_scalar(Graph *g, const char *name, DType t, double fill)
{
    while (value_named(g, name))
        name = arena_string(g->arena, "%s_", name);
    ValueId v = graph_value(g, VALUE_STATE, name, t, 0, NULL);
    value_edit(g, v)->fill = fill;
    return v;
}
