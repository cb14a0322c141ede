// From what the search found to what a plan's file says.
#ifndef SHARDCC_PLAN_MAKE_H
#define SHARDCC_PLAN_MAKE_H

#include "analyzer/plan_file.h"
#include "solver/plan.h"

// All but the names of the files and what was asked for. False after an error.
bool plan_make(PlanFile *f, const Graph *g, const Cluster *c, const Planned *p, int accumulate,
               Arena *a, Diag *d);

// What holds memory, and when most is held: of any plan, also of one that doesn't fit.
void plan_make_memory(PlanFile *f, const Graph *g, const Planned *p, Arena *a);

// The collectives of the plan's program, and what they take for each value. False after an error.
bool plan_make_moves(PlanFile *f, const Graph *g, const Plan *p, int accumulate, Arena *a, Diag *d);

#endif
