// The way from options to a program in memory, which commands share.
#ifndef SHARDCC_MAKE_PROGRAM_H
#define SHARDCC_MAKE_PROGRAM_H

#include "compile/fit/fit_memory.h"
#include "driver/passes.h"
#include "lower/lower.h"

// Programs with several ranks need the costs of a cluster; --cluster asks for a prediction.
static inline bool needs_cluster(const Options *o) { return o->cluster || o->ranks > 1; }

// Opens the cluster that the options name, or else this machine. False after an error.
bool open_cluster(Arena *a, const Options *o, Cluster *c);

// The request for a plan of the graphs that the options make.
PlanRequest plan_request(Arena *a, const Options *o, const Graphs *g);

// Finds a plan for several ranks, and what runs again if the request chooses it.
PlanStatus plan_graphs(Arena *a, const PlanRequest *r, const Cluster *c, const Graphs *g,
                       PlanResult *to, Diag *d);

typedef struct Made {
    Program *program;
    RecomputePolicy recompute;  // what a planner applied to the training graph
    int place;                  // of one rank's policy on the path of ways
} Made;

// Makes the program of the graphs; with several ranks, the one of the best plan. Any status except
// PLAN_DONE has been reported. With PLAN_INFEASIBLE the program is the smallest one found; with
// others there is none.
PlanStatus make_program(Arena *a, const Options *o, const Cluster *c, const Graphs *g, Made *to,
                        Diag *d);
// Makes about the smallest program, whatever the memory: with several ranks by a few searches, with
// one at a place on the path of ways. True if there is one.
bool make_small(Arena *a, const Options *o, const Cluster *c, const Graphs *g, int place, Made *to,
                Diag *d);
// Runs the passes and makes the program. True if there is one, *fits says whether it keeps to the
// memory.
bool try_program(Arena *a, const Options *o, const Cluster *c, Graphs *g, Made *to, bool *fits,
                 Diag *d);
// The exit status of a command for that of a plan.
int plan_exit_status(PlanStatus status);

// Reads a program's text, which says for how many ranks it is. NULL after an error.
Program *read_program(Arena *a, Options *o, Diag *d);

#endif
