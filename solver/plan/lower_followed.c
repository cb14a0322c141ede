// Lowers a training graph by the specs and strategies of a plan, whatever else runs again.
#include "lower/recompute/ways.h"
#include "solver/plan/follow_plan.h"

Program *lower_followed(Arena *a, const Graph *train, const Plan *plan,
                        const RecomputePolicy *policy, const Cluster *c, const LowerOptions *o,
                        Diag *d)
{
    Graph *g = recompute(a, train, policy, o->target, d);
    const PlannedStep step = {train, g, policy, c, o->target};
    LowerOptions own = *o;
    Plan *p = arena_array(a, Plan, 1);

    *p = *plan;
    if (!g || !plan_translate(a, &step, p, d))
        return NULL;
    Sharded *sharded = partition(a, g, p, d);
    own.sharded[SET_TRAIN] = sharded ? bucket(a, sharded) : NULL;
    return sharded ? lower(a, own.sharded[SET_TRAIN]->g, NULL, &own, d) : NULL;
}
