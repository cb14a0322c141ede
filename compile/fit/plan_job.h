// A request for a plan, with what was read for it.
#ifndef SHARDCC_PLAN_JOB_H
#define SHARDCC_PLAN_JOB_H

#include "compile/fit/fit_memory.h"

typedef struct PlanJob {
    Arena *a;
    const PlanRequest *r;
    const Proposal *proposal;  // NULL: programs are made
    const Cluster *c;
    const Graph *train, *predict;  // train: after recomputation; may be NULL
    const Graph *g;                // the graph to be planned: train, or predict if there is none
    const Graph *model;            // that graph before recomputation
    Recomputed made;               // of it: g, and where its values are from
    PlanOptions options;           // of a search
    const Mesh *mesh;
    int n_meshes;
    Plan given;  // if `follows`: the plan, which needs no search
    bool follows;
    int n_user_pins;  // the first of options.pin; the others are of r->given
    Diag *d, at;      // at: for messages about the plan's file, if there is one
} PlanJob;

// The options of a search that the request asks for, without pins and preset.
PlanOptions plan_job_options(const PlanJob *j);

// How its plans become programs.
LowerOptions plan_job_lowering(const PlanJob *j, int64_t memory);

// Fills `to` with the graphs, meshes, pins and plan of a request. `train` may be NULL. False after
// an error. Texts and files of the request aren't trusted.
bool plan_job_read(Arena *a, const PlanRequest *r, const Proposal *p, const Cluster *c,
                   const Graph *train, const Graph *predict, PlanJob *to, Diag *d);

// Reports that nothing fits: how much the smallest plan takes, and what holds that.
void plan_say_least(Arena *a, const PlanRequest *r, const PlanResult *s, Diag *d);

#endif
