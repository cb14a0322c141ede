// Tries plans along the path of policies (keep_path.h): at which indices each fits, and where its
// step is the shortest. What the files of fit_recompute share.
#ifndef SHARDCC_ALONG_PATH_H
#define SHARDCC_ALONG_PATH_H

#include "compile/fit/fit_memory.h"
#include "compile/fit/keep_path.h"

// More than any plan takes.
static const int64_t ENOUGH_BYTES = INT64_C(1) << 50;

typedef struct Tried {
    int64_t bytes;  // of the arena; with ranks without predictions
    double seconds;
    bool is_cut;  // it fits only with less overlap
} Tried;

// An index at which a plan was tried.
typedef struct TriedIndex {
    int at;
    Tried tried;
} TriedIndex;

// Indices at which one plan was tried, in their order.
typedef struct TriedIndices {
    TriedIndex *index;
    int n, cap;
} TriedIndices;

// A plan that fits at an index.
typedef struct Candidate {
    bool is_found;
    const ModelPlan *plan;
    int index;
    Tried tried;
} Candidate;

// A plan that was considered, and where it was tried.
typedef struct Considered {
    const ModelPlan *plan;
    TriedIndices tried;
} Considered;

typedef struct AlongPath {
    Arena *a;
    const PlanRequest *r;
    const Cluster *c;
    const Graph *train, *predict;
    const KeepPath *path;
    int64_t memory;          // that programs have to fit
    Candidate best;          // the shortest step, if any fits
    Candidate soonest;       // the cheapest candidate at the first index where it fits
    TriedIndices before;     // of the plan that was considered last
    Considered *considered;  // all plans that were
    int n_considered, cap_considered;
    bool is_brief;  // programs are packed with little work: some seem larger than they are
    Diag *d;
} AlongPath;

// The program of a plan at one index. Here and below the plan is NULL for one rank.
Tried along_path_try(const AlongPath *s, const ModelPlan *plan, int index);

// Would a step of so many seconds be shorter than the best one by a hundredth?
bool along_path_gains(const AlongPath *s, double seconds);

// Finds the first index at which the plan, which was proposed for `index`, fits. Keeps plan and
// index if the step there, or at another index tried meanwhile, is the shortest so far: where a
// program just fits, it may lack the memory to overlap.
void along_path_consider(AlongPath *s, const ModelPlan *plan, int index);

// Goes over to less memory: of the plans that were considered, those that fit it still count.
void along_path_limit(AlongPath *s, int64_t memory);

// The index at which the plan takes the fewest bytes, among indices near the end and some others.
int along_path_least(const AlongPath *s, const ModelPlan *plan);

#endif
