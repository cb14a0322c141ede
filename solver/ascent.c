// Lower bounds by dual ascent. The costs of the edges are moved to the nodes and on by sequential
// tree-reweighted message passing (TRW-S: Kolmogorov, "Convergent tree-reweighted message passing
// for energy minimization", PAMI 2006), in which no step lowers the bound; the bytes have a price
// at the fullest times, raised and lowered by the volume algorithm (Barahona and Anbil,
// "The volume algorithm", Math. Programming 2000).
#include <float.h>
#include <math.h>
#include <string.h>

#include "solver/internal.h"

enum {
    PATIENCE = 6,    // steps without a better bound before they get shorter
    NEW_SLOTS = 12,  // get a price in one step
    APART = 1024,    // n_slots / APART lie between two that have one
};
static const double FIRST_GAIN = 0.03, LAST_GAIN = 1e-6, SHORTER = 0.7;  // of the bound
static const double WEIGHT = 0.1;    // of the last choice in the mean
static const double SETTLED = 1e-5;  // two sweeps that give less are the last

typedef struct Ascent {
    const Field *f;
    int64_t *first_message;  // by edge: a's alternatives, then b's
    double *message;         // what an edge gives to its ends' alternatives
    double *price, *sum;     // of a byte, by slot
    double *rent;            // of alternatives: what their bytes cost
    double *into, *from;     // of one node
    int *choice;             // made on the way of the last sweep
    double *held, *mean;     // bytes of the choice, and over the last ones, by slot
    bool *is_priced;
    double size;  // of the numbers that bounds are made of
    double bound;
    double best;  // of the steps until now, with
    double *best_message, *best_price;
    int64_t work;
} Ascent;

static int n_of(const Ascent *s, int node) { return n_alternatives(s->f->p, node); }

static double *message_to(const Ascent *s, int node, Link l)
{
    return s->message + s->first_message[l.edge] + (l.is_a ? 0 : n_of(s, l.other));
}

// ---- sweeps ----

static bool is_before(int node, int other, bool is_forward)
{
    return is_forward ? other < node : other > node;
}

// The choice goes by what is known: costs to the nodes chosen before, messages of the others.
static int choose(const Ascent *s, int i, bool is_forward, double *cost)
{
    const Field *f = s->f;
    int n = n_of(s, i), best = 0;

    for (int k = 0; k < n; k++)
        cost[k] = f->cost[f->p->first[i] + k] + s->rent[f->p->first[i] + k];
    for (int j = f->first_link[i]; j < f->first_link[i + 1]; j++) {
        Link l = f->link[j];
        const double *m = message_to(s, i, l);
        if (is_before(i, l.other, is_forward))
            field_add_row(f, i, l, s->choice[l.other], 1, cost);
        else
            for (int k = 0; k < n; k++)
                cost[k] += m[k];
    }
    for (int k = 1; k < n; k++)
        best = cost[k] < cost[best] ? k : best;
    return best;
}

// The node's cost with all that its edges give it.
static double gather(const Ascent *s, int i, double *into)
{
    const Field *f = s->f;
    int n = n_of(s, i);
    double least = DBL_MAX;

    for (int k = 0; k < n; k++)
        into[k] = f->cost[f->p->first[i] + k] + s->rent[f->p->first[i] + k];
    for (int j = f->first_link[i]; j < f->first_link[i + 1]; j++) {
        const double *m = message_to(s, i, f->link[j]);
        for (int k = 0; k < n; k++)
            into[k] += m[k];
    }
    for (int k = 0; k < n; k++)
        least = into[k] < least ? into[k] : least;
    return least;
}

// Which part of a node's cost each edge ahead takes on.
static double share(const Ascent *s, int i, bool is_forward, int *n_ahead)
{
    const Field *f = s->f;
    int n = f->first_link[i + 1] - f->first_link[i], behind = 0;

    for (int j = f->first_link[i]; j < f->first_link[i + 1]; j++)
        behind += is_before(i, f->link[j].other, is_forward);
    *n_ahead = n - behind;
    int most = *n_ahead > behind ? *n_ahead : behind;
    return most ? 1.0 / most : 0;
}

static void pass_on(Ascent *s, int i, Link l, double part)
{
    const Field *f = s->f;
    const double *m = message_to(s, i, l);
    Link back = {.edge = l.edge, .other = i, .is_a = !l.is_a};
    int n = n_of(s, i);

    for (int k = 0; k < n; k++)
        s->from[k] = part * s->into[k] - m[k];
    field_pass(f, i, l, s->from, message_to(s, l.other, back));
    s->work += (int64_t)n * n_of(s, l.other);
}

static void sweep(Ascent *s, bool is_forward)
{
    const Field *f = s->f;
    int n = f->p->n_nodes, n_ahead;

    s->bound = 0;
    for (int j = 0; j < n; j++) {
        int i = is_forward ? j : n - 1 - j;
        s->choice[i] = choose(s, i, is_forward, s->from);
        double least = gather(s, i, s->into), part = share(s, i, is_forward, &n_ahead);
        s->bound += (1 - n_ahead * part) * least;
        for (int h = f->first_link[i]; h < f->first_link[i + 1]; h++)
            if (!is_before(i, f->link[h].other, is_forward))
                pass_on(s, i, f->link[h], part);
        s->work += 4 * n_of(s, i);
    }
    for (int t = 0; t < f->n_slots; t++)
        s->bound -= s->price[t] * (double)f->p->limit;
}

// ---- prices ----

static void keep_best(Ascent *s)
{
    const Field *f = s->f;

    s->best = s->bound;
    memcpy(s->best_price, s->price, (size_t)f->n_slots * sizeof *s->price);
    memcpy(s->best_message, s->message,
           (size_t)s->first_message[f->p->n_edges] * sizeof *s->message);
}

static void average(Ascent *s, double weight)
{
    field_held(s->f, s->choice, s->held);
    for (int t = 0; t < s->f->n_slots; t++)
        s->mean[t] += weight * (s->held[t] - s->mean[t]);
}

// Prices for the times that are too full, well apart from those that have one.
static void price_more(Ascent *s)
{
    int n = s->f->n_slots, apart = 1 + n / APART;
    double limit = (double)s->f->p->limit;

    for (int added = 0; added < NEW_SLOTS; added++) {
        int worst = -1;
        for (int t = 0, since = apart; t < n; t++, since++) {
            since = s->is_priced[t] ? 0 : since;
            bool is_near = since < apart;
            for (int u = t; !is_near && u < n && u < t + apart; u++)
                is_near = s->is_priced[u];
            if (!is_near && s->mean[t] > limit && (worst < 0 || s->mean[t] > s->mean[worst]))
                worst = t;
        }
        if (worst < 0)
            return;
        s->is_priced[worst] = true;
    }
}

// From the best prices as far along the mean's excess as would raise the bound by `gain`.
static void step(Ascent *s, double gain)
{
    double limit = (double)s->f->p->limit, square = 0;
    int n = s->f->n_slots;

    for (int t = 0; t < n; t++) {
        double slope = s->is_priced[t] ? s->mean[t] - limit : 0;
        square += slope > 0 || s->best_price[t] > 0 ? slope * slope : 0;
    }
    for (int t = 0; t < n; t++) {
        double slope = s->is_priced[t] ? s->mean[t] - limit : 0;
        double x = s->best_price[t] + (square > 0 ? gain * slope / square : 0);
        s->price[t] = x > 0 ? x : 0;
    }
    field_rent(s->f, s->price, s->sum, s->rent);
}

// ---- exact numbers ----

// What a node keeps once each edge ahead has its share, so that all terms of the bound are apart:
// what an edge took on it holds itself, not its end.
static void hand_over(Ascent *s)
{
    const Field *f = s->f;
    int n_ahead;

    for (int i = 0; i < f->p->n_nodes; i++) {
        double part = share(s, i, true, &n_ahead);
        gather(s, i, s->into);
        for (int j = f->first_link[i]; j < f->first_link[i + 1]; j++) {
            double *m = message_to(s, i, f->link[j]);
            if (!is_before(i, f->link[j].other, true))
                for (int k = 0; k < n_of(s, i); k++)
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

// Of the state behind a sweep forward.
static void to_dual(Ascent *s, Dual *d, Arena *a)
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

// ---- the whole ----

static bool goes_on(const Ascent *s, int64_t work, const Watch *w)
{
    return s->work < work && watch_stop(w) == STOP_DONE;
}

static double twice(Ascent *s)
{
    sweep(s, false);
    sweep(s, true);
    return s->bound;
}

// The bound's own, or part of what the nodes' costs differ by where it is about 0.
static double size_of(const Ascent *s)
{
    const Field *f = s->f;
    double sum = 0;

    for (int i = 0; i < f->p->n_nodes; i++) {
        double least = DBL_MAX, most = -DBL_MAX;
        for (int k = f->p->first[i]; k < f->p->first[i + 1]; k++) {
            least = f->cost[k] < least ? f->cost[k] : least;
            most = f->cost[k] > most && f->cost[k] < f->forbidden ? f->cost[k] : most;
        }
        sum += most > least ? most - least : 0;
    }
    return fabs(s->best) > sum / 64 ? fabs(s->best) : sum / 64;
}

// Sweeps at the same prices until they give little.
static void settle(Ascent *s, double little, int64_t work, const Watch *w)
{
    for (double before = twice(s); goes_on(s, work, w); before = s->bound)
        if (twice(s) - before <= little * fabs(before))
            return;
}

static void climb(Ascent *s, int64_t work, const Watch *w)
{
    double gain = FIRST_GAIN * s->size;

    average(s, 1);
    for (int failed = 0; goes_on(s, work, w) && gain > LAST_GAIN * s->size;) {
        price_more(s);
        step(s, gain);
        twice(s);
        average(s, WEIGHT);
        failed = s->bound > s->best ? 0 : failed + 1;
        if (s->bound > s->best)
            keep_best(s);
        if (failed == PATIENCE) {
            gain *= SHORTER;
            failed = 0;
        }
    }
}

static Ascent *ascent_new(const Field *f, Arena *a)
{
    const Problem *p = f->p;
    Ascent *s = arena_array(a, Ascent, 1);

    s->f = f;
    s->first_message = arena_array(a, int64_t, p->n_edges + 1);
    for (int e = 0; e < p->n_edges; e++)
        s->first_message[e + 1] =
            s->first_message[e] + n_alternatives(p, p->edge[e].a) + n_alternatives(p, p->edge[e].b);
    s->message = arena_array(a, double, s->first_message[p->n_edges]);
    s->best_message = arena_array(a, double, s->first_message[p->n_edges]);
    s->price = arena_array(a, double, f->n_slots);
    s->best_price = arena_array(a, double, f->n_slots);
    s->sum = arena_array(a, double, f->n_slots + 1);
    s->held = arena_array(a, double, f->n_slots);
    s->mean = arena_array(a, double, f->n_slots);
    s->is_priced = arena_array(a, bool, f->n_slots);
    s->rent = arena_array(a, double, p->first[p->n_nodes]);
    s->into = arena_array(a, double, f->widest);
    s->from = arena_array(a, double, f->widest);
    s->choice = arena_array(a, int, p->n_nodes);
    return s;
}

static void warm_start(Ascent *s, const Dual *d)
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
    field_rent(f, s->price, s->sum, s->rent);
}

Wide ascent(const Problem *p, Dual *dual, int64_t work, const Watch *w, Arena *a)
{
    if (!p->n_nodes) {
        *dual = (Dual){0};
        return 0;
    }
    Arena *own = arena_new();
    Ascent *s = ascent_new(field_new(p, own), own);
    Dual found;

    warm_start(s, dual);
    settle(s, SETTLED, work / 2, w);
    keep_best(s);
    s->size = size_of(s);
    climb(s, work, w);
    memcpy(s->price, s->best_price, (size_t)s->f->n_slots * sizeof *s->price);
    memcpy(s->message, s->best_message, (size_t)s->first_message[p->n_edges] * sizeof *s->message);
    field_rent(s->f, s->price, s->sum, s->rent);
    s->bound = -DBL_MAX;
    settle(s, SETTLED, work, w);
    to_dual(s, &found, a);
    arena_free(own);

    Wide after = dual_bound(p, &found);
    Wide before = dual->message ? dual_bound(p, dual) : after - 1;
    if (after > before)
        *dual = found;
    return after > before ? after : before;
}
