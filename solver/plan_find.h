// What the search for a plan on one mesh shares with its parts.
#ifndef SHARDCC_SOLVER_PLAN_FIND_H
#define SHARDCC_SOLVER_PLAN_FIND_H

#include "solver/plan_build.h"

typedef struct Finder {
    const Graph *g;
    const Mesh *m;
    const PlanOptions *o;
    PlanProblem q;
    Wide enough;
    bool hides;  // some of what is sent can go on beside computation
    bool *keep;  // by alternative: pins allow it
    int n;       // of alternatives
    const unsigned *role;
    PlanChoice choice[MAX_PRESETS + 2];  // that were found
    int n_choices;
    Planned *to;
    Arena *arena, *own, *thread_arena;  // beside: of a second thread
    Diag *d;
} Finder;

// ---- plan.c ----
// The cheapest choice of the alternatives that are kept, beginning with the choice and the prices
// of another answer (may be {0}: then with the options' prices). A brief search is for plans to
// begin with and to compare.
Answer solve_kept(const Finder *f, const Problem *p, const bool *keep, const Answer *start,
                  bool stops_early);
// What a preset that fits the mesh leaves of the alternatives that are kept. False where it leaves
// nothing somewhere; `idle` is then an axis that has nothing to split, or -1.
bool keep_preset(const Finder *f, const Preset *p, bool *keep, int *idle);
void add_choice(Finder *f, const Answer *x, int preset);  // if there is one

// ---- plan_trial.c ----
// The cheapest plan of all presets' ({0}: none fits), each of which is reported. What is found for
// one and keeps to another that is part of it is that one's, too.
Answer try_presets(Finder *f);

#endif
