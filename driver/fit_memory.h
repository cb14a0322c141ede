// From the graphs of one rank to the program of many.
#ifndef SHARDCC_FIT_MEMORY_H
#define SHARDCC_FIT_MEMORY_H

#include "driver/driver.h"
#include "lower/lower.h"
#include "solver/plan.h"

typedef enum PlanStatus {
    PLAN_DONE,
    PLAN_WRONG,       // there were mistakes, or a plan's graph can't be lowered
    PLAN_INFEASIBLE,  // nothing was found that keeps to the memory
    PLAN_NOT_FOUND,   // the search was stopped before it found a plan
} PlanStatus;

typedef struct PlanResult {
    Planned planned;      // of the training graph; of the other one, if there is none
    PlanOptions request;  // what was asked for: pins, preset, the bytes of a rank
    Program *program;     // its arena is what the plan takes of a rank's memory
    Simulated step;       // … of its training, if there is one
} PlanResult;

// The cheapest plan for the ranks, mesh and memory of the options, or the one that they name, and
// its program: both graphs (`train` may be NULL) split and lowered. What isn't PLAN_DONE has been
// reported.
PlanStatus fit_memory(Arena *a, const Options *o, const Cluster *c, const Graph *train,
                      const Graph *predict, PlanResult *to, Diag *d);

#endif
