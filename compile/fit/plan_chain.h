// The chain of stages of a plan's program, with the policies of its layers, and what the best
// schedule of it would save.
#ifndef SHARDCC_PLAN_CHAIN_H
#define SHARDCC_PLAN_CHAIN_H

#include "compile/fit/run_chain.h"

typedef struct PlanChain {
    ChainProblem problem;  // of one micro-batch: bytes, and seconds; policy 0 keeps the most
    int64_t other_bytes;   // bytes of the arena that are not of the chain
    double step;           // seconds of a step in which nothing runs again
} PlanChain;

// Finds the chain of the training graph, on the ranks of a plan (NULL: one rank). A policy under
// which the program has other stages is left out. False after reporting errors; one is that it is
// no chain.
bool plan_chain_find(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                     const Graph *predict, const PlanResult *planned, PlanChain *to, Diag *d);

#endif
