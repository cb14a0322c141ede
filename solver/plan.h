// Plans: how a graph is spread over a mesh, chosen by the core, which knows nothing of graphs.
#ifndef SHARDCC_SOLVER_PLAN_H
#define SHARDCC_SOLVER_PLAN_H

#include "analyzer/analyzer.h"
#include "solver/solver.h"

typedef struct PlanOptions {
    int accumulate;  // micro-batches
    int64_t memory;  // bytes of a rank
    SolveOptions solve;
} PlanOptions;

typedef struct Planned {
    Plan plan;      // where answer.choice isn't NULL
    Answer answer;  // costs are picoseconds a step
} Planned;

// The cheapest plan on the mesh under the cost model, with what is proved of it. False after an
// error.
bool plan_find(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o, Planned *to,
               Arena *a, Diag *d);

#endif
