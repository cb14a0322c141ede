// From the graphs of one rank to those of many.
#ifndef SHARDCC_SPREAD_H
#define SHARDCC_SPREAD_H

#include "driver/driver.h"
#include "lower/lower.h"
#include "solver/plan.h"

typedef struct Spread {
    const Sharded *set[N_SETS];
    Planned planned;  // of the training graph
} Spread;

// How plans are searched for: the same options, the same plan.
PlanOptions spread_options(Arena *a, const Options *o, const Cluster *c);

// The meshes of so many ranks that the options allow; returns how many, 0 after an error.
int spread_meshes(Arena *a, const Options *o, const Cluster *c, int ranks, const Mesh **mesh,
                  Diag *d);

// What --pin and --plan-preset ask for, into `po`. False after an error.
bool spread_wishes(Arena *a, const Options *o, const Graph *g, const Mesh *mesh, PlanOptions *po,
                   Diag *d);

// Plans the training graph for the ranks, mesh and memory of the options, and splits both graphs;
// `train` may be NULL, then the other one is planned. False after an error.
bool spread(Arena *a, const Options *o, const Cluster *c, const Graph *train, Graph *predict,
            Spread *to, Diag *d);

#endif
