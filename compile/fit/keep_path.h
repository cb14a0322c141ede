// A path from the policy that keeps the most to the policy that keeps the least. Along it layer
// after layer goes over to the next policy of its class. A layer goes earlier if it frees more
// bytes for each second of running kernels again.
#ifndef SHARDCC_KEEP_PATH_H
#define SHARDCC_KEEP_PATH_H

#include "lower/recompute/policies.h"

// One class goes over to its next policy, one layer after the other.
typedef struct KeepStep {
    int32_t cls;
    int policy;    // to which its layers go
    int n_layers;  // 1 of class 0, whose nodes change together
    double slope;  // seconds of running kernels again for each byte that isn't kept
} KeepStep;

typedef struct KeepPath {
    const Graph *g;  // the training graph before recomputation
    const ClassPolicies *classes;
    const KeepStep *step;
    int n_steps;
    int last_index;      // that of the policy that keeps the least; index 0 runs no kernel again
    RecomputeRule rule;  // where no kernel runs again
} KeepPath;

// Finds the path of a training graph. `c` gives the seconds of kernels; NULL: a fixed machine does.
// NULL after reporting errors.
KeepPath *keep_path_find(Arena *a, const Graph *g, RecomputeRule rule, const Target *t,
                         const Cluster *c, Diag *d);

// All layers of class k have its policy number policy[k].
RecomputePolicy keep_path_pure(Arena *a, const KeepPath *x, const int *policy);

// The number of policies of the class with the most of them. All layers have policy number i of
// their class, or the last one if there are fewer.
int keep_path_policies(const KeepPath *x);
RecomputePolicy keep_path_same(Arena *a, const KeepPath *x, int i);

// The step that contains an index. The path has steps.
const KeepStep *keep_path_step(const KeepPath *x, int index);

// The policy at an index.
RecomputePolicy keep_path_at(Arena *a, const KeepPath *x, int index);

// The seconds of kernels that run again at an index, in a step on one rank.
double keep_path_seconds(const KeepPath *x, int index);

// The index at which step i begins; for i = n_steps it is last_index.
int keep_path_begin(const KeepPath *x, int i);

#endif
