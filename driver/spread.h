// From the graphs of one rank to the program of many.
#ifndef SHARDCC_SPREAD_H
#define SHARDCC_SPREAD_H

#include "driver/driver.h"
#include "lower/lower.h"
#include "solver/plan.h"

typedef enum Spreading {
    SPREAD_DONE,
    SPREAD_WRONG,       // there were mistakes, or a plan's graph can't be lowered
    SPREAD_INFEASIBLE,  // nothing was found that keeps to the memory
    SPREAD_NOTHING,     // the search was stopped before it found a plan
} Spreading;

typedef struct Spread {
    Planned planned;   // of the training graph; of the other one, if there is none
    PlanOptions wish;  // what was asked for: pins, preset, the bytes of a rank
    Program *program;  // its arena is what the plan takes of a rank's memory
    Simulated step;    // … of its training, if there is one
} Spread;

// The cheapest plan for the ranks, mesh and memory of the options, or the one that they name, and
// its program: both graphs (`train` may be NULL) split and lowered. What isn't SPREAD_DONE has been
// reported.
Spreading spread(Arena *a, const Options *o, const Cluster *c, const Graph *train,
                 const Graph *predict, Spread *to, Diag *d);

#endif
