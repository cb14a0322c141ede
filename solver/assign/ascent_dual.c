// Turns the bound of an ascent into a Dual, whose exact numbers prove it.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solver/assign/ascent.h"

static const double FIRST_STEP_GAIN = 0.03;
static const double MIN_MESSAGE_GAIN = 1e-7;  // of the bound: least gain of messages alone

// Takes from each node the shares that its edges ahead carry. Then the terms of the bound are
// separate: an edge's term holds its share, and the node at its end doesn't.
static void hand_over(Ascent *s)
{
    const FloatProblem *f = s->f;
    int n_ahead;

    for (int i = 0; i < f->p->n_nodes; i++) {
        double part = ascent_share(s, i, true, &n_ahead);
        ascent_gather(s, i, s->into);
        for (int j = f->first_half_edge[i]; j < f->first_half_edge[i + 1]; j++) {
            double *m = ascent_message(s, i, f->half_edge[j]);
            if (f->half_edge[j].other > i)
                for (int k = 0; k < n_alternatives(f->p, i); k++)
                    m[k] -= part * s->into[k];
        }
    }
}

// The shift of the finest unit in which all messages and prices stay below 2^58.
static int finest(const Ascent *s)
{
    double most = 1;
    int power;

    for (int64_t i = 0; i < s->first_message[s->f->p->n_edges]; i++)
        most = fabs(s->message[i]) > most ? fabs(s->message[i]) : most;
    for (int t = 0; t < s->f->n_slots; t++)
        most = s->price[t] > most ? s->price[t] : most;
    frexp(most, &power);
    return power > 58 ? 0 : 58 - power > 40 ? 40 : 58 - power;
}

static int64_t whole(double x, int shift)
{
    double y = ldexp(x, shift);

    return y > 0x1p60 ? INT64_C(1) << 60 : y < -0x1p60 ? -(INT64_C(1) << 60) : llround(y);
}

void ascent_to_dual(Arena *a, Ascent *s, Dual *d)
{
    const FloatProblem *f = s->f;
    int64_t n = s->first_message[f->p->n_edges];

    hand_over(s);
    *d = (Dual){.shift = finest(s), .message = arena_array(a, int64_t, n)};
    d->time = arena_array(a, int, f->n_slots);
    d->price = arena_array(a, int64_t, f->n_slots);
    for (int t = 0; t < f->n_slots; t++) {
        d->time[d->n_times] = f->slot_time[t];
        d->price[d->n_times] = whole(s->price[t], d->shift);
        d->n_times += d->price[d->n_times] > 0;
    }
    for (int64_t i = 0; i < n; i++)
        d->message[i] = whole(-s->message[i], d->shift);
}

void ascent_warm_start(Ascent *s, const Dual *d)
{
    const FloatProblem *f = s->f;
    double unit = ldexp(1, -d->shift);

    for (int i = 0; i < d->n_times; i++) {
        int t = float_problem_slot(f, d->time[i]);
        if (t >= 0) {
            s->price[t] += (double)d->price[i] * unit;
            s->is_priced[t] = true;
        }
    }
    if (d->message)
        for (int64_t i = 0; i < s->first_message[f->p->n_edges]; i++)
            s->message[i] = -(double)d->message[i] * unit;
    ascent_update_byte_costs(s);
}

void ascent_reprice(Ascent *s, ClimbOptions c)
{
    ascent_save_best(s);
    ascent_climb(s, c);
    ascent_restore_best(s);
    ascent_converge(s, c);
}

// Raises the bound by better messages, then by better prices too, with about the given work.
static void raise_bound(Ascent *s, bool has_prices, int64_t work, const Deadline *w)
{
    if (!s->f->n_slots) {
        ascent_accelerate(
            s, (ClimbOptions){
                   .work = work, .enough = DBL_MAX, .deadline = w, .min_gain = MIN_MESSAGE_GAIN});
        return;
    }
    // Known prices need messages that fit them, which may take all the work; new prices get half of
    // it.
    ascent_converge(s, (ClimbOptions){0, 0, has_prices ? work : work / 2, DBL_MAX, w});
    ascent_reprice(s, (ClimbOptions){FIRST_STEP_GAIN, 1, work, DBL_MAX, w});
}

Wide ascent(Arena *a, const Problem *p, bool is_rough, Dual *dual, int64_t work, const Deadline *w)
{
    if (!p->n_nodes) {
        *dual = (Dual){0};
        return 0;
    }
    Arena *own = arena_new();
    Ascent *s =
        ascent_new(own, is_rough ? float_problem_new_rough(own, p) : float_problem_new(own, p));
    Dual found;

    s->chooses = s->f->n_slots > 0;
    ascent_warm_start(s, dual);
    raise_bound(s, dual->n_times, work, w);
    ascent_to_dual(a, s, &found);
    arena_free(own);

    Wide after = dual_bound(p, &found);
    Wide before = dual->message ? dual_bound(p, dual) : after - 1;
    if (after > before)
        *dual = found;
    return after > before ? after : before;
}
