// Choices to make another of: those that sweeps make at the prices of a bound and around these,
// some of which hold too much and some too little. Where of each node only the alternatives are
// left that one of them has, what remains is small, and mixes them as is cheapest.
#include <float.h>

#include "solver/ascent.h"

enum { BLEND_SWEEPS = 30 };                  // around the prices
static const double BLEND_STEP_GAIN = 3e-3;  // that their first step aims at, in parts of the bound
static const double MIN_TAKEN_SHARE =
    1e-5;  // taken less than this, an alternative was not taken of late
static const double price_scales[] = {1, 0.95, 1.05, 1.1, 1.2, 1.35, 1.6};  // of the prices

static void mark_choice(const Ascent *s, bool *mark)
{
    const Problem *p = s->f->p;

    for (int i = 0; i < p->n_nodes; i++)
        mark[p->first[i] + s->choice[i]] = true;
}

// What the steps to better prices take on their way.
static void mark_climb(Ascent *s, const Deadline *w, bool *mark)
{
    const Problem *p = s->f->p;

    ascent_sweep(s, false);
    ascent_sweep(s, true);
    ascent_save_best(s);
    ascent_climb(s, (ClimbOptions){BLEND_STEP_GAIN, 1, s->work + BLEND_SWEEPS * problem_size(p),
                                   DBL_MAX, w});
    ascent_restore_best(s);
    for (int k = 0; k < p->first[p->n_nodes]; k++)
        mark[k] |= s->taken[k] > MIN_TAKEN_SHARE;
}

static void mark_scaled(Ascent *s, double scale, bool *mark)
{
    for (int t = 0; t < s->f->n_slots; t++)
        s->price[t] = scale * s->best_price[t];
    ascent_update_byte_costs(s);
    for (int i = 0; i < 2; i++) {
        ascent_sweep(s, false);
        mark_choice(s, mark);
        ascent_sweep(s, true);
        mark_choice(s, mark);
    }
}

void blend_mark(const Problem *p, const Dual *dual, const Deadline *w, bool *mark)
{
    Arena *a = arena_new();
    Ascent *s = ascent_new(float_problem_new_rough(p, a), a);

    ascent_warm_start(s, dual);
    mark_climb(s, w, mark);
    for (int i = 0; i < COUNT(price_scales) && deadline_check(w) == STOP_DONE; i++)
        mark_scaled(s, price_scales[i], mark);
    arena_free(a);
}
