// The plan of a forward-only graph beside that of its training graph.
#include "solver/plan_build.h"

static bool is_kept(const Value *x)
{
    return (x->kind == VALUE_PARAMETER || x->kind == VALUE_BUFFER) && !x->producer && x->name;
}

bool plan_predict(const Graph *g, const Graph *training, const Plan *plan, const Cluster *c,
                  const PlanOptions *o, Planned *to, Arena *a, Diag *d)
{
    Arena *scratch = arena_new();
    Map at = {.arena = scratch};
    PlanOptions all = *o;
    Pin *pin = arena_array(scratch, Pin, g->n_values);

    for (ValueId v = 1; v < training->n_values; v++)
        if (is_kept(value_of(training, v)))
            map_set(&at, value_of(training, v)->name, v);
    all.pin = pin;
    all.n_pins = 0;
    all.preset = NULL;
    for (ValueId v = 1; v < g->n_values; v++) {
        int like = is_kept(value_of(g, v)) ? map_get(&at, value_of(g, v)->name) : 0;
        if (like)
            pin[all.n_pins++] =
                (Pin){.kind = PIN_REST, .id = v, .spec = plan->spec[like], .is_given = true};
    }
    bool ok = plan_find(g, c, &plan->mesh, &all, to, a, d);
    arena_free(scratch);
    return ok;
}
