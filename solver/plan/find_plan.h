// The state of the search for a plan on one mesh, which find_plan.c and try_presets.c share.
#ifndef SHARDCC_SOLVER_PLAN_FIND_H
#define SHARDCC_SOLVER_PLAN_FIND_H

#include "solver/plan/build_problem.h"

typedef struct Finder {
    const Graph *g;
    const Mesh *m;
    const PlanOptions *o;
    PlanProblem q;
    Wide enough;
    bool hides;  // some communication can overlap computation
    bool *keep;  // by alternative: the pins allow it
    int n;       // number of alternatives
    const unsigned *role;
    PlanChoice choice[MAX_PRESETS + 2];  // choices that were found
    int n_choices;
    Planned *to;
    Arena *arena, *own, *thread_arena;  // thread_arena: of a second thread
    Diag *d;
} Finder;

// ---- find_plan.c ----
// The cheapest choice among the kept alternatives. The search begins with the choice and the prices
// of `start`; if that is {0}, with the options' prices. stops_early: a brief search, for plans to
// compare or to start from.
Answer solve_kept(const Finder *f, const Problem *p, const bool *keep, const Answer *start,
                  bool stops_early);
// Writes to `keep` the kept alternatives that a preset allows. False where the preset doesn't fit
// the mesh or leaves a variable without alternatives. *idle is an axis along which no product can
// be split, else -1.
bool keep_preset(const Finder *f, const Preset *p, bool *keep, int *idle);
void add_choice(Finder *f, const Answer *x, int preset);  // adds the answer's choice, if it has one

// ---- try_presets.c ----
// Finds and reports a plan for each preset, and returns the cheapest ({0}: none fits). If preset A
// allows all alternatives of preset B, B's plan counts for A too, and A's plan for B if it follows
// B.
Answer try_presets(Finder *f);

#endif
