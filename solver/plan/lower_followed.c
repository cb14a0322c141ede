// Lowers a training graph by the specs and strategies of a plan, whatever else runs again.
#include "solver/plan/follow_plan.h"

Program *lower_followed(Arena *a, const Graph *train, const ModelPlan *plan,
                        const RecomputePolicy *policy, const LowerOptions *o, Diag *d)
{
    const Recomputed made = recompute_traced(a, train, policy, o->target, d);
    LowerOptions own = *o;
    Plan *p = arena_array(a, Plan, 1);

    if (!made.g || !plan_translate(a, train, plan, &made, p, d))
        return NULL;
    Sharded *sharded = partition(a, made.g, p, d);
    own.sharded[SET_TRAIN] = sharded ? bucket(a, sharded) : NULL;
    return sharded ? lower(a, own.sharded[SET_TRAIN]->g, NULL, &own, d) : NULL;
}
