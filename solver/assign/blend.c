// Marks alternatives to blend into a new choice: those of the choices that sweeps make at the
// prices of a bound and at prices around them. Some of these choices hold too much and some too
// little. The problem with only their alternatives is small, and its cheapest choice mixes them
// best.
#include <float.h>

#include "solver/assign/ascent.h"

enum { BLEND_SWEEPS = 30 };                  // work of the climb around the prices, in sweeps
static const double BLEND_STEP_GAIN = 3e-3;  // aim of the first step, as a part of the bound
// An alternative with a smaller share of the last choices is left out.
static const double MIN_TAKEN_SHARE = 1e-5;
static const double price_scales[] = {1, 0.95, 1.05, 1.1, 1.2, 1.35, 1.6};  // factors of the prices

static void mark_choice(const Ascent *s, bool *mark)
{
    const Problem *p = s->f->p;

    for (int i = 0; i < p->n_nodes; i++)
        mark[p->first[i] + s->choice[i]] = true;
}

// Marks the alternatives that the climb to better prices passes through.
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
    Ascent *s = ascent_new(a, float_problem_new_rough(a, p));

    ascent_warm_start(s, dual);
    mark_climb(s, w, mark);
    for (int i = 0; i < COUNT(price_scales) && deadline_check(w) == STOP_DONE; i++)
        mark_scaled(s, price_scales[i], mark);
    arena_free(a);
}
