// Finds a choice by dropping alternatives in rounds. An alternative goes if the messages say that
// all choices with it cost clearly more than the bound (min-marginals: Savchynskyy, Discrete
// Graphical Models, 2019, chapter 5). At first only the most expensive ones go; this raises the
// costs of others. What remains is small and is solved. A dropped alternative may be in a cheaper
// choice: a dive finds choices, and bounds nothing.
#include <math.h>

#include "solver/assign/ascent.h"

enum {
    MAX_DIVE_ROUNDS = 8,
    SWEEP_PAIRS_PER_ROUND = 2,  // pairs of sweeps in a round, for messages to settle after drops
    MIN_DIVE_PAIRS = 1000,      // a problem with fewer pairs is left alone
    DROP_DIVISOR = 16,          // stop dropping when pairs are this many times fewer
    SOLVE_DIVISOR = 2           // solve if pairs are this many times fewer
};
// The margin above the bound at which alternatives go: its first value as a part of the cost, and
// its factor after each round.
static const double FIRST_MARGIN = 0.01, MARGIN_SHRINK = 0.5;

typedef struct Dive {
    const Problem *p;
    FloatProblem *f;
    Ascent *s;
    bool *keep;  // by alternative
} Dive;

static Dive dive_new(Arena *a, const Problem *p, const Dual *dual)
{
    Dive d = {.p = p, .f = float_problem_new_rough(a, p)};

    d.s = ascent_new(a, d.f);
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
    Dive d = dive_new(a, p, dual);

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
