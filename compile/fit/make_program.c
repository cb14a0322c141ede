// Makes programs of plans and policies.
#include "compile/fit/make_program.h"

static bool split(Arena *a, const Graph *g, const Plan *p, const Sharded **to, Diag *d)
{
    Sharded *s = partition(a, g, p, d);

    *to = s ? bucket(a, s) : NULL;
    return s;
}

Program *program_of_plans(Arena *a, const Graph *train, const Plan *training, const Graph *predict,
                          const Plan *predictions, const LowerOptions *o, Diag *d)
{
    LowerOptions own = *o;
    const Sharded **s = own.sharded;

    if ((train && !split(a, train, training, &s[SET_TRAIN], d)) ||
        (predict && !split(a, predict, predictions, &s[SET_PREDICT], d)))
        return NULL;
    return lower(a, train ? s[SET_TRAIN]->g : NULL, predict ? s[SET_PREDICT]->g : NULL, &own, d);
}

Program *program_of_model_plan(Arena *a, const Graph *train, const ModelPlan *plan,
                               const RecomputePolicy *policy, const LowerOptions *o, Diag *d)
{
    const Recomputed made = recompute_traced(a, train, policy, o->target, d);
    Plan *p = arena_array(a, Plan, 1);

    if (!made.g || !plan_translate(a, train, plan, &made, p, d))
        return NULL;
    return program_of_plans(a, made.g, p, NULL, NULL, o, d);
}

Program *program_of_policy(Arena *a, const Graph *train, const Graph *predict,
                           const RecomputePolicy *policy, const LowerOptions *o, Diag *d)
{
    Graph *again = recompute(a, train, policy, o->target, d), *forward = graph_clone(a, predict);

    if (!again || (o->fuse && !scatter_onto(again, d)) || !graph_verify(again, d))
        return NULL;
    classes_align(forward, again);
    return lower(a, again, forward, o, d);
}

static PlanTrial try_plan(const void *context, const Graph *g, const Plan *plan)
{
    const TrialOptions *options = context;
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = g->name, .to = &said};
    LowerOptions o = options->lowering;
    o.memory = mesh_memory_left(&plan->mesh, &options->exchange_memory, o.memory);
    o.is_trial = true;
    const Program *p = program_of_plans(a, g, plan, NULL, NULL, &o, &d);
    PlanTrial t = {.is_made = p};

    if (p) {
        Simulated step = program_simulate(p, SET_TRAIN, o.cluster);
        t.fits = p->arena_bytes <= o.memory;
        t.seconds = step.seconds;
        t.compute_seconds = step.compute;
    }
    arena_free(a);
    text_free(&said);
    return t;
}

PlanTrials trials_of(const TrialOptions *o) { return (PlanTrials){try_plan, o}; }
