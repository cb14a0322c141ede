// Plans that the user gives as files.
#ifndef SHARDCC_FOLLOW_PLAN_H
#define SHARDCC_FOLLOW_PLAN_H

#include "analyzer/sharding/plan_file.h"
#include "lower/recompute/policies.h"
#include "solver/plan/plan.h"

// The training step that a plan's file is for.
typedef struct PlannedStep {
    const Graph *model;                // the training graph before recomputation
    Recomputed made;                   // the graph that the policy in force makes of it
    const RecomputePolicy *recompute;  // that policy
    const Cluster *cluster;
    const Target *target;
} PlannedStep;

// The specs and strategies of a plan by the ids of the model's graph. Any recomputed graph can take
// them over. Tied values needn't be alike, since a policy may split their class.
typedef struct ModelPlan {
    Mesh mesh;
    Spec *storage_spec, *compute_spec;  // as in Plan
    Strategy *strategy;
} ModelPlan;

typedef struct FollowedPlan {
    Plan plan;   // of step->made.g
    Pin *pin;    // specs and strategies that were edited or marked. If there are any, all else of
    int n_pins;  // the plan is void except its mesh
} FollowedPlan;

// The specs and strategies of the plan p, which is of the graph from->g, by the model's ids.
ModelPlan plan_of_model(Arena *a, const Graph *model, const Recomputed *from, const Plan *p);

// Sets *p to the plan of the graph to->g with the same specs and strategies. A node that runs again
// gets them from the node that it repeats. Returns false after an error.
bool plan_translate(Arena *a, const Graph *model, const ModelPlan *from, const Recomputed *to,
                    Plan *p, Diag *d);

// Reads the plan of a file. If its recomputation policy was edited, specs and strategies still come
// from the file: a node that runs again gets them from the node that it repeats. Returns false
// after an error: the file is of another graph or cluster, is invalid, or pins what the new policy
// doesn't make.
bool plan_follow(Arena *a, const PlanFile *f, const PlannedStep *step, FollowedPlan *to, Diag *d);

#endif
