// The bound of an ascent as a Dual: exact numbers that prove it of the problem.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solver/ascent.h"

static const double FIRST_GAIN = 0.03;
static const double STILL = 1e-7;  // of the bound: messages alone give no more

// What a node keeps once each edge ahead has its share, so that all terms of the bound are apart:
// what an edge took on it holds itself, not its end.
static void hand_over(Ascent *s)
{
    const Field *f = s->f;
    int n_ahead;

    for (int i = 0; i < f->p->n_nodes; i++) {
        double part = ascent_share(s, i, true, &n_ahead);
        ascent_gather(s, i, s->into);
        for (int j = f->first_link[i]; j < f->first_link[i + 1]; j++) {
            double *m = ascent_message(s, i, f->link[j]);
            if (f->link[j].other > i)
                for (int k = 0; k < n_alternatives(f->p, i); k++)
                    m[k] -= part * s->into[k];
        }
    }
}

// The finest unit in which all numbers keep well within 64 bits.
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

void ascent_to_dual(Ascent *s, Dual *d, Arena *a)
{
    const Field *f = s->f;
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

void ascent_warm(Ascent *s, const Dual *d)
{
    const Field *f = s->f;
    double unit = ldexp(1, -d->shift);

    for (int i = 0; i < d->n_times; i++) {
        int t = field_slot(f, d->time[i]);
        if (t >= 0) {
            s->price[t] += (double)d->price[i] * unit;
            s->is_priced[t] = true;
        }
    }
    if (d->message)
        for (int64_t i = 0; i < s->first_message[f->p->n_edges]; i++)
            s->message[i] = -(double)d->message[i] * unit;
    ascent_rent(s);
}

void ascent_reprice(Ascent *s, Climb c)
{
    ascent_keep(s);
    ascent_climb(s, c);
    ascent_back(s);
    ascent_settle(s, c);
}

// Better messages, then better prices too, by about as much work.
static void raise_bound(Ascent *s, bool has_prices, int64_t work, const Watch *w)
{
    if (!s->f->n_slots) {
        ascent_hasten(s, (Climb){.work = work, .enough = DBL_MAX, .watch = w, .little = STILL});
        return;
    }
    // Prices that are known wait for messages that go with them.
    ascent_settle(s, (Climb){0, 0, has_prices ? work : work / 2, DBL_MAX, w});
    ascent_reprice(s, (Climb){FIRST_GAIN, 1, work, DBL_MAX, w});
}

Wide ascent(const Problem *p, bool is_rough, Dual *dual, int64_t work, const Watch *w, Arena *a)
{
    if (!p->n_nodes) {
        *dual = (Dual){0};
        return 0;
    }
    Arena *own = arena_new();
    Ascent *s = ascent_new(is_rough ? field_new_rough(p, own) : field_new(p, own), own);
    Dual found;

    s->chooses = s->f->n_slots > 0;
    ascent_warm(s, dual);
    raise_bound(s, dual->n_times, work, w);
    ascent_to_dual(s, &found, a);
    arena_free(own);

    Wide after = dual_bound(p, &found);
    Wide before = dual->message ? dual_bound(p, dual) : after - 1;
    if (after > before)
        *dual = found;
    return after > before ? after : before;
}
