// Finds programs that fit a rank's memory: of plans for several ranks, and of one rank.
#ifndef SHARDCC_FIT_MEMORY_H
#define SHARDCC_FIT_MEMORY_H

#include "solver/plan/follow_plan.h"

// How a compilation, or a part of it, ended.
typedef enum CompileStatus {
    COMPILE_DONE,
    COMPILE_WRONG,         // the input had mistakes, or the plan's graph can't be lowered
    COMPILE_WRONG_OPTION,  // an option doesn't fit the model
    COMPILE_INFEASIBLE,    // nothing was found that keeps to the memory
    COMPILE_NOT_FOUND,     // the search was stopped before it found a plan
    COMPILE_BUG,           // a mistake of ours: a pass is wrong, or passed the bound of its work
} CompileStatus;

typedef struct Predictions Predictions;  // plan_predictions.h

// A request for a plan. Texts come from the user's options, and aren't trusted.
typedef struct PlanRequest {
    const Target *target;
    int ranks, accumulate;
    // Bytes of a rank; 0: all that a device of the cluster has, but what communicators take.
    int64_t memory;
    const char *mesh;    // NULL: the best one
    const char *preset;  // NULL: none
    const char *plan;    // a plan's file to follow; NULL: search for a plan
    // Specs and strategies to follow, under any policy of recomputation; NULL: none. A proposal
    // lists the moves from them.
    const ModelPlan *given;
    const char *const *pin;  // GLOB=SPEC or GLOB=STRATEGY
    int n_pins;
    // By which the program's graph is made of the training graph. If it is chosen, only its rule.
    RecomputePolicy recompute;
    bool chooses_recompute;  // so that the memory suffices
    bool runs_chain;         // one rank: whole stages run again (lower/chain/)
    bool is_part;            // a sub-search: infeasibility isn't reported
    // Asks for a small program whatever the memory, which comes with COMPILE_INFEASIBLE. A few
    // searches look for its plan. On one rank it has the policy at `index` of the path of policies.
    bool is_estimate;
    int index;
    bool fuse;
    Budget *budget;            // counts the work; NULL: it isn't counted
    Predictions *predictions;  // plans of them that were found; NULL: each candidate's is searched
} PlanRequest;

// How one search proposes a plan, of which no program is made.
typedef struct Proposal {
    bool is_quick;  // one pass of the search, without an engine, will do
    bool is_brief;  // the first plan that is found will do
    bool skips_presets;
    Copies copies;  // which ones its rows count
    BytePrice byte_price;
    // Policies that the bound is to cover. The plan itself runs nothing again.
    const RecomputePolicy *other;
    int n_others;
} Proposal;

// Gives the options that every program has which is lowered for the request.
static inline LowerOptions request_lowering(const PlanRequest *r)
{
    return (LowerOptions){
        .target = r->target, .fuse = r->fuse, .accumulate = r->accumulate, .budget = r->budget};
}

typedef struct PlanResult {
    Recomputed made;      // the graph: of training, or the predicting one if there is none
    Planned planned;      // of made.g
    PlanOptions options;  // of the first search: pins, preset; memory: what the program may take
    // Bytes of a rank that communicators take; no part of options.memory, and 0 if the request says
    // how much that is.
    int64_t exchange_bytes;
    Program *program;  // its arena is the memory that the plan takes of a rank
    Simulated step;    // of training, or of predicting if there is none
} PlanResult;

// Chooses what runs again together with the plan. The same as fit_memory otherwise; `train` may not
// be NULL. The plan's bounds are of all plans, whatever they run again.
CompileStatus fit_recompute(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                            const Graph *predict, PlanResult *to, Diag *d);

// Finds the cheapest plan for the ranks, mesh and memory of the request, or reads the plan that it
// names, and makes its program: both graphs (`train` may be NULL) are split and lowered. Any status
// except COMPILE_DONE has been reported.
CompileStatus fit_memory(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                         const Graph *predict, PlanResult *to, Diag *d);

// Proposes a plan for the request, whether it fits the memory or not. The result has no program.
CompileStatus propose_plan(Arena *a, const PlanRequest *r, const Proposal *p, const Cluster *c,
                           const Graph *train, const Graph *predict, PlanResult *to, Diag *d);

typedef struct OneRank {
    Program *program;           // with COMPILE_INFEASIBLE: the smallest one found
    RecomputePolicy recompute;  // by which its training graph was made
    int index;                  // its index on the path of policies, if the request chooses
} OneRank;

// Lowers both graphs (`train` may be NULL). If the request chooses what to recompute, `train` is
// the graph before recomputation, and the program is the fastest one that was found on the path of
// policies and takes at most r->memory bytes; otherwise `train` is lowered as it is, and has to
// fit. `c` gives the seconds of kernels; NULL: an assumed machine does. Any status except
// COMPILE_DONE has been reported.
CompileStatus fit_one_rank(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                           const Graph *predict, OneRank *to, Diag *d);

#endif
