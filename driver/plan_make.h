// Fills a plan's file from the result of a search.
#ifndef SHARDCC_PLAN_MAKE_H
#define SHARDCC_PLAN_MAKE_H

#include "analyzer/plan_file.h"
#include "driver/fit_memory.h"

// Fills in all fields except the names of files and the request.
void plan_make(PlanFile *f, const Cluster *c, const PlanResult *s, Arena *a);

// Fills in the collectives of the plan's program, and their seconds for each value.
void plan_make_collectives(PlanFile *f, const Sharded *s, int accumulate, Arena *a);

#endif
