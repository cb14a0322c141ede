// The state of solve(), which its steps share.
#ifndef SHARDCC_SOLVER_SOLVE_STATE_H
#define SHARDCC_SOLVER_SOLVE_STATE_H

#include "solver/assign/mip.h"

enum { MAX_PRESOLVE_LEVELS = 64 };

typedef struct SolveState {
    const Problem *p;
    const SolveOptions *o;
    Answer *answer;
    Deadline deadline;
    Arena *arena, *bound_arena;  // bound_arena: for the thread that bounds during a search
    Diag *d;
    int n_levels;
    Presolved level[MAX_PRESOLVE_LEVELS];
    Wide offset;                       // sum of all levels' offsets
    int *at[MAX_PRESOLVE_LEVELS + 1];  // capacity for a choice of each level; at[0] is of p
    int *known_choice;                 // capacity for answer->choice
    Dual dual;                         // of the last level's problem; may be empty
    Dual prices;                       // of the first level, before costs fixed anything
    bool has_dual, has_bound;
    bool is_exhausted;      // nothing is cheaper than the known choice
    Wide unsearched_bound;  // all choices that cost less remain in the last level
    bool is_empty;          // branching or an engine says that nothing is within the limit
    bool has_engine;        // an engine may be asked, and none has failed
    Engine *engine;         // NULL: none was asked yet
    int64_t effort;         // work per alternative and pair, in a round
} SolveState;

static inline const Problem *reduced_problem(const SolveState *c)
{
    return &c->level[c->n_levels - 1].problem;
}

// ---- solve_state.c ----
double phase_begin(const SolveState *c);
void phase_end(SolveState *c, SolvePhase phase, double began);
// Takes a choice of the last level's problem if it is the cheapest. A Listener's function; `to` is
// the SolveState.
void solve_found_choice(void *to, const int *choice, Wide cost);
// Raises the answer's bound to this bound of the last level's problem: no choice is cheaper, except
// known ones.
void bound_raise(SolveState *c, Wide bound);
// Keeps the first level's prices, as only its times are the original's.
void keep_prices(SolveState *c);
void take_dual_bound(SolveState *c, const Dual *dual);  // raises the bound to that of a dual

// ---- solve_engine.c: steps that an engine does ----
void bound_by_relaxing(SolveState *c);
void branch_by_engine(SolveState *c);

#endif
