// The state of a solve, as the steps of the chain share it.
#ifndef SHARDCC_SOLVER_SOLVE_STATE_H
#define SHARDCC_SOLVER_SOLVE_STATE_H

#include "solver/internal.h"

enum { MAX_PRESOLVE_LEVELS = 64 };

typedef struct SolveState {
    const Problem *p;
    const SolveOptions *o;
    Answer *answer;
    Deadline deadline;
    Arena *arena, *bound_arena;  // bounds: of what is found beside a search
    Diag *d;
    int n_levels;
    Presolved level[MAX_PRESOLVE_LEVELS];
    Wide offset;                       // of the last level
    int *at[MAX_PRESOLVE_LEVELS + 1];  // a choice on its way back: at[0] is of the original
    int *known_choice;                 // where the answer's goes
    Dual dual;                         // of the last level's problem; n_times may be 0
    Dual prices;                       // the first level's, where costs have fixed nothing yet
    bool has_dual, has_bound;
    bool is_exhausted;      // nothing is cheaper than the choice that is known
    Wide unsearched_bound;  // all that costs less is among the last level's choices
    bool is_empty;          // nothing is within the limit, an engine or branching says
    bool has_engine;        // it is worth it, and none has failed
    int64_t effort;         // work for each alternative and pair
} SolveState;

static inline const Problem *reduced_problem(const SolveState *c)
{
    return &c->level[c->n_levels - 1].problem;
}

// ---- solve.c ----
double phase_begin(const SolveState *c);
void phase_end(SolveState *c, SolvePhase phase, double began);
// A choice of the last level's problem; `to` is the chain (a Listener's).
void solve_found_choice(void *to, const int *choice, Wide cost);
// A bound of the last level's problem: no choice that isn't known yet is cheaper.
void bound_raise(SolveState *c, Wide bound);
void take_dual_bound(SolveState *c, const Dual *dual);  // … that a dual of it proves

// ---- solve_engine.c: what an engine does ----
void bound_by_relaxing(SolveState *c);
void branch_by_engine(SolveState *c);

#endif
