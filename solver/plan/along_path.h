// Tries plans along the path of ways (keep_path.h): which places each fits at, and where its step
// is the shortest. What the files of fit_recompute share.
#ifndef SHARDCC_ALONG_PATH_H
#define SHARDCC_ALONG_PATH_H

#include "solver/plan/fit_memory.h"
#include "solver/plan/keep_path.h"

typedef struct Tried {
    int64_t bytes;  // of the arena; with ranks without predictions
    double seconds;
    bool is_cut;  // it fits only with less overlap
} Tried;

// A place at which a plan was tried.
typedef struct TriedPlace {
    int at;
    Tried tried;
} TriedPlace;

// Places at which one plan was tried, in their order.
typedef struct TriedPlaces {
    TriedPlace *place;
    int n, cap;
} TriedPlaces;

// A plan that fits at a place.
typedef struct Candidate {
    bool is_found;
    const ModelPlan *plan;
    int place;
    double seconds;
    bool is_cut;  // it fits only with less overlap
} Candidate;

typedef struct AlongPath {
    Arena *a;
    const PlanRequest *r;
    const Cluster *c;
    const Graph *train, *predict;
    const KeepPath *path;
    Candidate best;      // the shortest step, if any fits
    Candidate soonest;   // of the steps at the first places at which plans fit
    TriedPlaces before;  // of the plan that was considered last
    Diag *d;
} AlongPath;

// The program of a plan at one place. Here and below the plan is NULL for one rank.
Tried along_path_try(const AlongPath *s, const ModelPlan *plan, int place);

// Would a step of so many seconds be shorter than the best one by a hundredth?
bool along_path_gains(const AlongPath *s, double seconds);

// Finds the first place at which the plan, which was proposed for `place`, fits. Keeps plan and
// place if the step there, or at another place that was tried on the way, is the shortest so far:
// where a program just fits, it may lack the room to overlap.
void along_path_consider(AlongPath *s, const ModelPlan *plan, int place);

// The place at which the plan takes the fewest bytes, of those near the end and some others.
int along_path_least(const AlongPath *s, const ModelPlan *plan);

#endif
