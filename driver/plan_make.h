// From what the search found to what a plan's file says.
#ifndef SHARDCC_PLAN_MAKE_H
#define SHARDCC_PLAN_MAKE_H

#include "analyzer/plan_file.h"
#include "driver/fit_memory.h"

// All but the names of the files and what was asked for. False after an error.
void plan_make(PlanFile *f, const Cluster *c, const PlanResult *s, Arena *a);

// Of any program: the bytes of its arena, what they hold when most is held, and when that is.
void plan_make_memory(PlanFile *f, const Program *p, Arena *a);

// The collectives of the plan's program, and what they take for each value.
void plan_make_collectives(PlanFile *f, const Sharded *s, int accumulate, Arena *a);

#endif
