// Finds a plan whose program fits a rank's memory.
#ifndef SHARDCC_FIT_MEMORY_H
#define SHARDCC_FIT_MEMORY_H

#include "analyzer/plan_file.h"
#include "lower/lower.h"
#include "solver/plan/plan.h"

typedef enum PlanStatus {
    PLAN_DONE,
    PLAN_WRONG,       // the input had mistakes, or the plan's graph can't be lowered
    PLAN_INFEASIBLE,  // no plan was found that keeps to the memory
    PLAN_NOT_FOUND,   // the search was stopped before it found a plan
} PlanStatus;

// A request for a plan. Texts are those of the user's options, and not trusted.
typedef struct PlanRequest {
    const Target *target;
    int ranks, accumulate;
    int64_t memory;          // bytes of a rank; 0: all that a device of the cluster has
    const char *mesh;        // NULL: the best one
    const char *preset;      // NULL: none
    const char *plan;        // a plan's file to follow; NULL: search for a plan
    const char *const *pin;  // GLOB=SPEC or GLOB=STRATEGY
    int n_pins;
    RecomputePolicy recompute;  // by which the graph that is split is made of the training graph
    bool fuse;
    const char *programs;  // the folder of the solver's engines
} PlanRequest;

typedef struct PlanResult {
    const Graph *g;       // the training graph after recomputation, or the predicting one
    Planned planned;      // of g
    PlanOptions options;  // of the first search: pins, preset, the bytes of a rank
    Program *program;     // its arena is the memory that the plan takes of a rank
    Simulated step;       // of training, or of predicting if there is none
} PlanResult;

// Finds the cheapest plan for the ranks, mesh and memory of the request, or reads the plan that it
// names, and makes its program: both graphs (`train` may be NULL) are split and lowered. Any status
// except PLAN_DONE has been reported.
PlanStatus fit_memory(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                      const Graph *predict, PlanResult *to, Diag *d);

#endif
