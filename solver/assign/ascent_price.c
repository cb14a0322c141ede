// Prices of bytes at the fullest times, by the volume algorithm (Barahona and Anbil, "The volume
// algorithm", Math. Programming 2000). A step starts from the best prices so far and goes along the
// mean of the bytes by which the last choices exceeded the limit.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/assign/ascent.h"

enum {
    FAILURES_PER_SHRINK = 6,     // steps without a better bound before steps get shorter
    SHRINKS_PER_SWEEP_PAIR = 8,  // each such number of shrinks adds a pair of sweeps to a step,
    MAX_SWEEP_PAIRS = 4,         // up to this many pairs
    MAX_NEW_PRICES = 12,         // slots that get a price in one step
    SLOTS_PER_SPACING = 1024,    // two priced slots are at least n_slots / this apart
};
static const double MIN_STEP_GAIN = 1e-6, STEP_SHRINK = 0.7;  // MIN_STEP_GAIN is of the bound
static const double MEAN_WEIGHT = 0.1;      // weight of the last choice in the mean
static const double MIN_SWEEP_GAIN = 1e-5;  // of the bound: least gain of a pair of sweeps
static const double MAX_MOMENTUM = 0.8;     // most of the last change of messages to repeat

void ascent_save_best(Ascent *s)
{
    const FloatProblem *f = s->f;

    s->best = s->bound;
    memcpy(s->best_price, s->price, (size_t)f->n_slots * sizeof *s->price);
    memcpy(s->best_message, s->message,
           (size_t)s->first_message[f->p->n_edges] * sizeof *s->message);
}

static void average(Ascent *s, double weight)
{
    const Problem *p = s->f->p;

    float_problem_live_bytes(s->f, s->choice, s->live_bytes);
    for (int t = 0; t < s->f->n_slots; t++)
        s->mean[t] += weight * (s->live_bytes[t] - s->mean[t]);
    for (int k = 0; k < p->first[p->n_nodes]; k++)
        s->taken[k] *= 1 - weight;
    for (int i = 0; i < p->n_nodes; i++)
        s->taken[p->first[i] + s->choice[i]] += weight;
}

// Marks up to MAX_NEW_PRICES of the times that exceed the limit most as priced, each at a distance
// from all priced ones.
static void price_more(Ascent *s)
{
    int n = s->f->n_slots, spacing = 1 + n / SLOTS_PER_SPACING;
    double limit = (double)s->f->p->limit;

    for (int added = 0; added < MAX_NEW_PRICES; added++) {
        int worst = -1;
        for (int t = 0, since = spacing; t < n; t++, since++) {
            since = s->is_priced[t] ? 0 : since;
            bool is_close_to_priced = since < spacing;
            for (int u = t; !is_close_to_priced && u < n && u < t + spacing; u++)
                is_close_to_priced = s->is_priced[u];
            if (!is_close_to_priced && s->mean[t] > limit &&
                (worst < 0 || s->mean[t] > s->mean[worst]))
                worst = t;
        }
        if (worst < 0)
            return;
        s->is_priced[worst] = true;
    }
}

// Sets prices: from the best ones along the mean's excess, as far as would raise the bound by
// `gain`.
static void price_step(Ascent *s, double gain)
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
    ascent_update_byte_costs(s);
}

static bool goes_on(const Ascent *s, ClimbOptions c)
{
    return s->work < c.work && s->best < c.enough && deadline_check(c.deadline) == STOP_DONE;
}

static double sweep_both_directions(Ascent *s)
{
    ascent_sweep(s, false);
    ascent_sweep(s, true);
    return s->bound;
}

// The scale of the bound: its own size, or where that is about 0, 1/64 of the sum of the ranges of
// the nodes' costs.
static double size_of(const Ascent *s)
{
    const FloatProblem *f = s->f;
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

void ascent_converge(Ascent *s, ClimbOptions c)
{
    double min_gain = c.min_gain > 0 ? c.min_gain : MIN_SWEEP_GAIN;

    for (double before = sweep_both_directions(s); goes_on(s, c); before = s->bound)
        if (sweep_both_directions(s) - before <= min_gain * fabs(before))
            return;
}

// Sets messages: from the best ones on in the direction from `before` to these, by `part` of that
// distance.
static void extrapolate(Ascent *s, const double *before, double part)
{
    int64_t n = s->first_message[s->f->p->n_edges];

    for (int64_t i = 0; i < n; i++)
        s->message[i] = s->best_message[i] + part * (s->best_message[i] - before[i]);
}

static void accelerate(Ascent *s, ClimbOptions c, double *before)
{
    size_t bytes = (size_t)s->first_message[s->f->p->n_edges] * sizeof *before;
    double min_gain = c.min_gain > 0 ? c.min_gain : MIN_SWEEP_GAIN, gain = DBL_MAX;

    sweep_both_directions(s);
    ascent_save_best(s);
    for (int t = 0; goes_on(s, c) && gain > min_gain * fabs(s->best);) {
        double part = t < 2 ? 0 : (t - 1) / (t + 2.0);
        extrapolate(s, before, part < MAX_MOMENTUM ? part : MAX_MOMENTUM);
        if (sweep_both_directions(s) > s->best) {
            gain = s->bound - s->best;
            memcpy(before, s->best_message, bytes);
            ascent_save_best(s);
            t++;
        } else {  // went too far: restart without momentum
            gain = t ? gain : 0;
            t = 0;
        }
    }
    memcpy(s->message, s->best_message, bytes);
    s->bound = s->best;
}

void ascent_accelerate(Ascent *s, ClimbOptions c)
{
    double *before = calloc((size_t)s->first_message[s->f->p->n_edges] + 1, sizeof *before);

    if (!before)
        lack_of_memory();
    accelerate(s, c, before);
    free(before);
}

void ascent_climb(Ascent *s, ClimbOptions c)
{
    s->size = size_of(s);
    double gain = c.gain * s->size;
    int failed = 0, n_shrinks = 0;

    average(s, 1);
    while (goes_on(s, c) && gain > MIN_STEP_GAIN * s->size) {
        price_more(s);
        price_step(s, gain);
        // With shorter steps, the messages limit the bound more than the prices do.
        for (int i = 0; i <= n_shrinks / SHRINKS_PER_SWEEP_PAIR && i < MAX_SWEEP_PAIRS; i++)
            sweep_both_directions(s);
        average(s, MEAN_WEIGHT);
        failed++;
        if (s->bound > s->best) {
            ascent_save_best(s);
            gain *= c.step_growth;
            failed = 0;
        }
        if (failed == FAILURES_PER_SHRINK) {
            gain *= STEP_SHRINK;
            n_shrinks++;
            failed = 0;
        }
    }
}

void ascent_restore_best(Ascent *s)
{
    memcpy(s->price, s->best_price, (size_t)s->f->n_slots * sizeof *s->price);
    memcpy(s->message, s->best_message,
           (size_t)s->first_message[s->f->p->n_edges] * sizeof *s->message);
    ascent_update_byte_costs(s);
    s->bound = s->best;
}
