// Programs in which whole stages of the forward part run again, by the schedule of the dynamic
// program of solver/chain/.
#ifndef SHARDCC_RUN_CHAIN_H
#define SHARDCC_RUN_CHAIN_H

#include "compile/fit/fit_memory.h"
#include "compile/fit/keep_path.h"
#include "solver/chain/chain.h"

// The chain of a program: its stages, all keeping alike. `other_bytes` gets the bytes outside the
// chain: buffers without slots, and what gradients take beyond the chain's count.
ChainProblem chain_of_program(Arena *a, const ProgramChain *x, int64_t *other_bytes);

// Makes a program whose stages run again by a schedule and whose layers all have the policy of one
// number (keep_path_same). It takes the least simulated time within the request's memory; if none
// fits, it is the smallest one. False after reporting errors; one is that the model is no chain.
bool chain_program(Arena *a, const PlanRequest *r, const Cluster *c, const KeepPath *path,
                   const Graph *train, const Graph *predict, OneRank *to, Diag *d);

#endif
