// Finds a plan whose program fits a rank's memory.
#ifndef SHARDCC_FIT_MEMORY_H
#define SHARDCC_FIT_MEMORY_H

#include "driver/driver.h"
#include "lower/lower.h"
#include "solver/plan.h"

typedef enum PlanStatus {
    PLAN_DONE,
    PLAN_WRONG,       // the input had mistakes, or the plan's graph can't be lowered
    PLAN_INFEASIBLE,  // no plan was found that keeps to the memory
    PLAN_NOT_FOUND,   // the search was stopped before it found a plan
} PlanStatus;

typedef struct PlanResult {
    Planned planned;      // of the training graph, or of the predicting one if there is none
    PlanOptions request;  // the request: pins, preset, the bytes of a rank
    Program *program;     // its arena is the memory that the plan takes of a rank
    Simulated step;       // of training, or of predicting if there is none
} PlanResult;

// Finds the cheapest plan for the ranks, mesh and memory of the options, or reads the plan that
// they name, and makes its program: both graphs (`train` may be NULL) are split and lowered. Any
// status except PLAN_DONE has been reported.
PlanStatus fit_memory(Arena *a, const Options *o, const Cluster *c, const Graph *train,
                      const Graph *predict, PlanResult *to, Diag *d);

#endif
