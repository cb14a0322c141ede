// Finds the plan of a forward-only graph, given the plan of its training graph.
#include "compile/fit/plan_predictions.h"

#include <string.h>

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

// ---- plans that were found before ----

// The mesh's links follow from its sizes.
static bool same_mesh(const Mesh *x, const Mesh *y)
{
    for (int a = 0; a < x->n_axes && x->n_axes == y->n_axes; a++)
        if (x->size[a] != y->size[a] || strcmp(x->name[a], y->name[a]))
            return false;
    return x->n_axes == y->n_axes;
}

static bool same_block(Block x, Block y)
{
    return x.cls == y.cls && x.iter == y.iter && x.pos == y.pos;
}

// Do two graphs of the same model have the same blocks?
static bool same_labels(const Graph *x, const Graph *y)
{
    if (x->n_classes != y->n_classes)
        return false;
    for (NodeId n = 1; n < x->n_nodes; n++)
        if (!same_block(x->nodes[n].block, y->nodes[n].block))
            return false;
    for (ValueId v = 1; v < x->n_values; v++)
        if (!same_block(value_of(x, v)->block, value_of(y, v)->block))
            return false;
    return true;
}

static bool same_pins(const Prediction *x, const Prediction *y)
{
    for (int i = 0; i < x->n_pins && x->n_pins == y->n_pins; i++)
        if (x->pin[i].id != y->pin[i].id || !spec_equal(&x->pin[i].spec, &y->pin[i].spec))
            return false;
    return x->n_pins == y->n_pins;
}

static const Prediction *find_known(const Predictions *all, const Prediction *x)
{
    for (const Prediction *y = all ? all->first : NULL; y; y = y->next)
        if (x->memory == y->memory && x->stops_early == y->stops_early &&
            same_mesh(&x->mesh, &y->mesh) && same_pins(x, y) && same_labels(x->g, y->g))
            return y;
    return NULL;
}

// ---- the whole ----

// Pins the storage specs of parameters and buffers.
static void pin_kept(Arena *a, const Plan *plan, const ValueId *equal, Prediction *to)
{
    Pin *pin = arena_array(a, Pin, to->g->n_values);

    for (ValueId v = 1; v < to->g->n_values; v++)
        if (equal[v])
            pin[to->n_pins++] = (Pin){.kind = PIN_STORAGE,
                                      .id = v,
                                      .spec = plan->storage_spec[equal[v]],
                                      .is_given = true};
    to->pin = pin;
}

const Planned *plan_predict(Arena *a, Predictions *all, Graph *g, const Graph *training,
                            const Plan *plan, const Cluster *c, const PlanOptions *o, Diag *d)
{
    Prediction *x = arena_array(a, Prediction, 1);
    Arena *scratch = arena_new();
    ValueId *equal = find_equal_parameters(scratch, g, training);
    PlanOptions own = *o;

    unlabel_unequal_layers(scratch, g, plan, equal);
    *x = (Prediction){
        .g = g, .mesh = plan->mesh, .memory = o->memory, .stops_early = o->stops_early};
    pin_kept(a, plan, equal, x);
    arena_free(scratch);
    const Prediction *known = find_known(all, x);
    if (known)
        return &known->planned;
    own.pin = x->pin;
    own.n_pins = x->n_pins;
    own.preset = NULL;
    if (!plan_find(a, g, c, &plan->mesh, &own, &x->planned, d))
        return NULL;
    x->next = all ? all->first : NULL;
    if (all)
        all->first = x;
    return &x->planned;
}
