// A choice by and by: the alternatives go with which, as the messages say, all choices cost clearly
// more than the bound (min-marginals: Savchynskyy, Discrete Graphical Models, 2019, chapter 5). At
// first only the dearest do; the others' costs rise as they go. What is left is small and is
// solved. Some of what went may be cheaper: this finds choices, and bounds nothing.
#include <math.h>

#include "solver/ascent.h"

enum {
    MAX_DIVE_ROUNDS = 8,
    SWEEP_PAIRS_PER_ROUND = 2,  // pairs of them a round, until the messages have heard of what went
    MIN_DIVE_PAIRS = 1000,      // pairs that are worth it
    DROP_DIVISOR = 16,          // times smaller: then no more has to go
    SOLVE_DIVISOR = 2           // times smaller: then what is left is solved
};
static const double FIRST_MARGIN = 0.01,
                    MARGIN_SHRINK = 0.5;  // how much is clearly more, in parts of the cost

typedef struct Dive {
    const Problem *p;
    FloatProblem *f;
    Ascent *s;
    bool *keep;  // by alternative
} Dive;

static Dive dive_new(const Problem *p, const Dual *dual, Arena *a)
{
    Dive d = {.p = p, .f = float_problem_new_rough(p, a)};

    d.s = ascent_new(d.f, a);
    d.s->chooses = false;
    d.s->lower = arena_array(a, double, p->first[p->n_nodes]);
    d.keep = arena_array(a, bool, p->first[p->n_nodes]);
    for (int k = 0; k < p->first[p->n_nodes]; k++)
        d.keep[k] = true;
    ascent_warm_start(d.s, dual);
    return d;
}

static void drop_costly(Dive *d, double margin)
{
    for (int i = 0; i < SWEEP_PAIRS_PER_ROUND; i++) {
        ascent_sweep(d->s, false);
        ascent_sweep(d->s, true);
    }
    for (int k = 0; k < d->p->first[d->p->n_nodes]; k++)
        if (d->s->lower[k] >= d->s->bound + margin) {
            d->keep[k] = false;
            d->f->cost[k] = d->f->forbidden;
        }
}

static int n_kept(const Dive *d, int node)
{
    int n = 0;

    for (int k = d->p->first[node]; k < d->p->first[node + 1]; k++)
        n += d->keep[k];
    return n;
}

static int64_t pairs_kept(const Dive *d)
{
    int64_t n = 0;

    for (const Edge *e = d->p->edge; e < d->p->edge + d->p->n_edges; e++)
        n += (int64_t)n_kept(d, e->a) * n_kept(d, e->b);
    return n;
}

void dive(const Problem *p, const Dual *dual, Wide cost, const SolveOptions *o, const Deadline *w,
          Listener l)
{
    int64_t all = problem_pairs(p), left = all;
    double margin = FIRST_MARGIN * fabs((double)cost);

    if (all < MIN_DIVE_PAIRS)
        return;
    Arena *a = arena_new();
    Dive d = dive_new(p, dual, a);

    for (int i = 0;
         i < MAX_DIVE_ROUNDS && left > all / DROP_DIVISOR && deadline_check(w) == STOP_DONE; i++) {
        drop_costly(&d, margin);
        left = pairs_kept(&d);
        margin *= MARGIN_SHRINK;
    }
    if (left <= all / SOLVE_DIVISOR)
        solve_restricted(p, d.keep, NULL, o, l);
    arena_free(a);
}
