// The only functions by which graphs become programs: a plan splits them over the ranks, a policy
// of recomputation says what runs again, and lowering does the rest.
#ifndef SHARDCC_FIT_MAKE_PROGRAM_H
#define SHARDCC_FIT_MAKE_PROGRAM_H

#include "solver/plan/follow_plan.h"

// Splits both graphs by their plans and lowers them. Either may be NULL, with its plan. `o` gives
// all else. NULL after reporting errors.
Program *program_of_plans(Arena *a, const Graph *train, const Plan *training, const Graph *predict,
                          const Plan *predictions, const LowerOptions *o, Diag *d);

// The program of a training graph by the specs and strategies of a plan, without predictions; the
// policy says what runs again. NULL after reporting errors.
Program *program_of_model_plan(Arena *a, const Graph *train, const ModelPlan *plan,
                               const RecomputePolicy *policy, const LowerOptions *o, Diag *d);

// The program of one rank, whose training graph runs again what the policy says. NULL after
// reporting errors.
Program *program_of_policy(Arena *a, const Graph *train, const Graph *predict,
                           const RecomputePolicy *policy, const LowerOptions *o, Diag *d);

// How the programs of plans are made for a search. lowering.memory is that of a rank, with its
// communicators.
typedef struct TrialOptions {
    LowerOptions lowering;
    ExchangeMemory exchange_memory;
} TrialOptions;

// Makes and simulates the programs of plans of a training graph, for a search: `o` says how.
PlanTrials trials_of(const TrialOptions *o);

#endif
