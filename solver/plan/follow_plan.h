// Plans that the user gives as files.
#ifndef SHARDCC_FOLLOW_PLAN_H
#define SHARDCC_FOLLOW_PLAN_H

#include "analyzer/plan_file.h"
#include "solver/plan/plan.h"

// The training step that a plan's file is for.
typedef struct PlannedStep {
    const Graph *model;                // the training graph before recomputation
    const Graph *g;                    // the graph that `recompute` makes of it
    const RecomputePolicy *recompute;  // the policy in force
    const Cluster *cluster;
    const Target *target;
} PlannedStep;

typedef struct FollowedPlan {
    Plan plan;   // of step->g
    Pin *pin;    // specs and strategies that were edited or marked. If there are any, all else of
    int n_pins;  // the plan is void except its mesh
} FollowedPlan;

// Makes the plan *p of the graph that p->recompute makes into one of step->g, with the same specs
// and strategies: a node that is run again has those of the node that it repeats. Returns false
// after an error.
bool plan_translate(Arena *a, const PlannedStep *step, Plan *p, Diag *d);

// Makes the program of a training graph by the specs and strategies of a plan; the policy says what
// runs again. `o` gives all else. NULL after reporting errors.
Program *lower_followed(Arena *a, const Graph *train, const Plan *plan,
                        const RecomputePolicy *policy, const Cluster *c, const LowerOptions *o,
                        Diag *d);

// Reads the plan of a file. If its recomputation policy was edited, specs and strategies stay
// those of the file: a node that is run again has those of the node that it repeats. Returns false
// after an error: the file is of another graph or cluster, is invalid, or pins what the new policy
// doesn't make.
bool plan_follow(Arena *a, const PlanFile *f, const PlannedStep *step, FollowedPlan *to, Diag *d);

#endif
