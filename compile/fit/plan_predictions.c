// Finds the plan of a forward-only graph, given the plan of its training graph.
#include "compile/fit/plan_predictions.h"

static bool is_kept(const Value *x)
{
    return (x->kind == VALUE_PARAMETER || x->kind == VALUE_BUFFER) && !x->producer && x->name;
}

// By ValueId: the training graph's parameter or buffer of the same name, or 0.
static ValueId *find_equal_parameters(Arena *a, const Graph *g, const Graph *training)
{
    ValueId *equal = arena_array(a, ValueId, g->n_values);
    Map at = {.arena = a};

    for (ValueId v = 1; v < training->n_values; v++)
        if (is_kept(value_of(training, v)))
            map_set(&at, value_of(training, v)->name, v);
    for (ValueId v = 1; v < g->n_values; v++)
        if (is_kept(value_of(g, v)))
            equal[v] = map_get(&at, value_of(g, v)->name);
    return equal;
}

// Removes the block labels of layers whose parameters differ in storage spec from layer to layer.
// The training graph's plan may do that where its layers aren't all alike; they can't be a loop of
// predictions.
static void unlabel_unequal_layers(Arena *a, Graph *g, const Plan *plan, const ValueId *equal)
{
    Map first = {.arena = a};
    bool *differs = arena_array(a, bool, g->n_classes + 1);

    for (ValueId v = 1; v < g->n_values; v++) {
        Block block = value_of(g, v)->block;
        const char *position = arena_string(a, "%d.%d", block.cls, block.pos);
        if (!equal[v] || !block.cls)
            continue;
        if (!map_get(&first, position))
            map_set(&first, position, equal[v]);
        differs[block.cls] |= !spec_equal(&plan->storage_spec[equal[v]],
                                          &plan->storage_spec[map_get(&first, position)]);
    }
    for (int c = 1; c < g->n_classes; c++)
        if (differs[c])
            graph_write_out(g, c);
}

bool plan_predict(Arena *a, Graph *g, const Graph *training, const Plan *plan, const Cluster *c,
                  const PlanOptions *o, Planned *to, Diag *d)
{
    Arena *scratch = arena_new();
    ValueId *equal = find_equal_parameters(scratch, g, training);
    Pin *pin = arena_array(scratch, Pin, g->n_values);
    PlanOptions all = *o;

    unlabel_unequal_layers(scratch, g, plan, equal);
    all.pin = pin;
    all.n_pins = 0;
    all.preset = NULL;
    for (ValueId v = 1; v < g->n_values; v++)
        if (equal[v])
            pin[all.n_pins++] = (Pin){.kind = PIN_STORAGE,
                                      .id = v,
                                      .spec = plan->storage_spec[equal[v]],
                                      .is_given = true};
    bool ok = plan_find(a, g, c, &plan->mesh, &all, to, d);
    arena_free(scratch);
    return ok;
}
