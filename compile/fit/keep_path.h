// A path from the policy that keeps the most to the policy that keeps the least. Along it the ways
// of all classes change layer by layer, those first that free the most bytes for a second of
// running kernels again.
#ifndef SHARDCC_KEEP_PATH_H
#define SHARDCC_KEEP_PATH_H

#include "lower/recompute/ways.h"

// One class goes over to its next way, one layer after the other.
typedef struct KeepStep {
    int32_t cls;
    int way;       // to which its layers go
    int n_layers;  // 1 of class 0, whose nodes change together
    double slope;  // seconds of running kernels again for each byte that isn't kept
} KeepStep;

typedef struct KeepPath {
    const Graph *g;  // the training graph before recomputation
    const ClassWays *ways;
    const KeepStep *step;
    int n_steps;
    int n_places;        // indices are from 0, which runs no kernel again, to this number
    RecomputeRule rule;  // where no kernel runs again
} KeepPath;

// Finds the path of a training graph. `c` gives the seconds of kernels; NULL: a fixed machine does.
// NULL after reporting errors.
KeepPath *keep_path_find(Arena *a, const Graph *g, RecomputeRule rule, const Target *t,
                         const Cluster *c, Diag *d);

// The policy in which all layers of class k keep by way[k].
RecomputePolicy keep_path_pure(Arena *a, const KeepPath *x, const int *way);

// How many ways the class with the most has; the policy in which all layers keep by way w or, where
// there is none, by their last one.
int keep_path_ways(const KeepPath *x);
RecomputePolicy keep_path_way(Arena *a, const KeepPath *x, int w);

// The step that contains an index. The path has steps.
const KeepStep *keep_path_step(const KeepPath *x, int place);

// The policy at an index.
RecomputePolicy keep_path_at(Arena *a, const KeepPath *x, int place);

// The seconds of kernels that run again at an index, in a step on one rank.
double keep_path_seconds(const KeepPath *x, int place);

// The index at which step i begins; for i = n_steps it is n_places.
int keep_path_begin(const KeepPath *x, int i);

#endif
