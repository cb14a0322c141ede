// Along the path bytes decrease, though not evenly, and steps get longer, except where more memory
// lets a program overlap more. So bisection finds the first index at which a plan fits; then a few
// indices before and after it are tried.
#include "compile/fit/along_path.h"

#include <math.h>

#include "base/search.h"
#include "compile/fit/make_program.h"

// ---- one plan at one index ----

static const Program *make(Arena *a, const AlongPath *s, const ModelPlan *plan,
                           const RecomputePolicy *policy)
{
    LowerOptions o = request_lowering(s->r);

    if (!plan)
        return program_of_policy(a, s->train, s->predict, policy, &o, s->d);
    o.cluster = s->c;
    o.memory = s->memory;
    o.is_trial = true;
    o.packs_briefly = s->is_brief;
    return program_of_model_plan(a, s->train, plan, policy, &o, s->d);
}

Tried along_path_try(const AlongPath *s, const ModelPlan *plan, int index)
{
    Arena *a = arena_new();
    RecomputePolicy policy = keep_path_at(a, s->path, index);
    const Program *p = s->d->errors ? NULL : make(a, s, plan, &policy);
    Tried t = {INT64_MAX, INFINITY, false};

    if (p)
        t = (Tried){p->arena_bytes, program_simulate(p, SET_TRAIN, s->c).seconds,
                    p->full_overlap_bytes > 0};
    arena_free(a);
    return t;
}

// ---- one plan at all indices ----

static bool fits(const AlongPath *s, const TriedIndex *p) { return p->tried.bytes <= s->memory; }

// A program as it is guessed to be at an index where it wasn't tried.
typedef struct Guess {
    double bytes, seconds;
} Guess;

// The program at an index, as if bytes and seconds were linear between indices that were tried, of
// which there are at least two.
static Guess between(const TriedIndices *l, int at)
{
    const TriedIndex *x = l->index;
    int i = 1;

    while (i < l->n - 1 && x[i].at < at)
        i++;
    const Tried *from = &x[i - 1].tried, *to = &x[i].tried;
    double part = (double)(at - x[i - 1].at) / (x[i].at - x[i - 1].at);
    return (Guess){(double)from->bytes + part * (double)(to->bytes - from->bytes),
                   from->seconds + part * (to->seconds - from->seconds)};
}

// The bytes of the previous plan at this index: the curves of plans are much alike. For the first
// plan nothing is known, except that bytes decrease.
static double bytes_before(const AlongPath *s, int at)
{
    return s->before.n < 2 ? -at : between(&s->before, at).bytes;
}

// Interpolates between two indices where this plan would reach the memory limit, using the previous
// plan's curve. After some rounds every other guess is the middle, since the curves differ.
static int guess(const AlongPath *s, const TriedIndex *low, const TriedIndex *high, int round)
{
    double part = (double)(low->tried.bytes - s->memory) /
                  (double)(low->tried.bytes - high->tried.bytes),
           most = bytes_before(s, low->at), least = bytes_before(s, high->at);
    int at = low->at + 1, first_middle = s->before.n < 2 ? 1 : 3;

    if (round >= first_middle && round % 2)
        return low->at + (high->at - low->at) / 2;
    while (at < high->at - 1 && most - bytes_before(s, at) < part * (most - least))
        at++;
    return at;
}

// Would the step at the index after `low` still be longer than the best one, if steps went on to
// get shorter with what runs again, as they do between the last index and `high`?
static bool is_hopeless(const AlongPath *s, const TriedIndex *low, const TriedIndex *high,
                        const TriedIndex *last)
{
    double again = keep_path_seconds(s->path, high->at);
    double more = keep_path_seconds(s->path, last->at) - again;

    if (!s->best.is_found || more <= 0)
        return false;
    double rate = (last->tried.seconds - high->tried.seconds) / more;
    double less = again - keep_path_seconds(s->path, low->at + 1);
    return high->tried.seconds - rate * less > s->best.tried.seconds;
}

static void add_index(Arena *a, TriedIndices *l, TriedIndex p)
{
    *arena_push(a, l->index, l->n, l->cap) = p;
    for (int i = l->n - 1; i && l->index[i - 1].at > p.at; i--) {
        l->index[i] = l->index[i - 1];
        l->index[i - 1] = p;
    }
}

static void keep_shorter(Candidate *x, const ModelPlan *plan, const TriedIndex *p)
{
    if (!x->is_found || p->tried.seconds < x->tried.seconds)
        *x = (Candidate){true, plan, p->at, p->tried};
}

static TriedIndex try_index(AlongPath *s, const ModelPlan *plan, int at, TriedIndices *all)
{
    TriedIndex p = {at, along_path_try(s, plan, at)};

    add_index(s->a, all, p);
    if (fits(s, &p) && !s->d->errors)
        keep_shorter(&s->best, plan, &p);
    return p;
}

// Along a step of the path bytes first fall, as less is kept, and may then rise: the layers whose
// backward part comes first run again while all else is still kept. So a step is looked at near its
// begin, in its middle and near its end.
enum { LOOKS = 4 };

static int look_at(const KeepPath *x, int i)
{
    int n = x->step[i / LOOKS].n_layers;
    const int layers[LOOKS] = {1, n / 2, n - 1, n};

    return keep_path_begin(x, i / LOOKS) + layers[i % LOOKS];
}

// The share of the bytes by which an index may be lower than the indices around it: half of what
// one of the n layers of a step has.
static double dip(const KeepStep *x) { return 0.5 / x->n_layers; }

// Looks for an index at which a plan fits that fits neither at the first nor, but by little, at the
// last one. *low becomes the last index before *high that was tried.
static void look_along(AlongPath *s, const ModelPlan *plan, TriedIndex *low, TriedIndex *high,
                       TriedIndices *all)
{
    for (int i = 0; i < LOOKS * s->path->n_steps && !s->d->errors; i++) {
        int at = look_at(s->path, i);
        double least = (double)high->tried.bytes * (1 - dip(&s->path->step[i / LOOKS]));
        if (at <= low->at || at >= s->path->last_index || least > (double)s->memory)
            continue;
        TriedIndex p = try_index(s, plan, at, all);
        if (fits(s, &p)) {
            *high = p;
            return;
        }
        *low = p;
    }
}

static bool is_tried(const TriedIndices *all, int at)
{
    for (int i = 0; i < all->n; i++)
        if (all->index[i].at == at)
            return true;
    return false;
}

bool along_path_gains(const AlongPath *s, double seconds)
{
    return !s->best.is_found || seconds < s->best.tried.seconds * (1 - MIN_INDEX_GAIN);
}

// Could the program at an index that wasn't tried fit, and its step be shorter than the best one by
// a hundredth? Both are guessed. Where some layers of a step keep less than others, each of them
// can make bytes and seconds fall.
static bool may_gain(const AlongPath *s, const TriedIndices *all, int at)
{
    Guess x = between(all, at);
    double left = 1 - dip(keep_path_step(s->path, at));

    return x.bytes * left <= (double)s->memory && along_path_gains(s, x.seconds * left);
}

// Looks for an index before *high at which the plan fits: bytes don't go down evenly.
static void look_before(AlongPath *s, const ModelPlan *plan, TriedIndex *high, TriedIndices *all)
{
    for (int i = 0; i < LOOKS * s->path->n_steps && !s->d->errors; i++) {
        int at = look_at(s->path, i);
        if (at >= high->at)
            return;
        if (is_tried(all, at) || !may_gain(s, all, at))
            continue;
        TriedIndex p = try_index(s, plan, at, all);
        if (fits(s, &p)) {
            *high = p;
            return;
        }
    }
}

// Looks for a shorter step after an index at which the program fits only with less overlap: with
// less kept there is more memory for it.
static void look_after(AlongPath *s, const ModelPlan *plan, TriedIndex p, TriedIndices *all)
{
    int at = p.at;

    for (int by = 1; p.tried.is_cut && at + by <= s->path->last_index && !s->d->errors; by *= 2)
        if (!is_tried(all, at + by))
            p = try_index(s, plan, at + by, all);
}

void along_path_consider(AlongPath *s, const ModelPlan *plan, int index)
{
    // A plan that doesn't fit where it was proposed seldom fits before.
    int first = index < s->path->last_index ? index : 0;
    TriedIndices all = {0};
    TriedIndex low = try_index(s, plan, first, &all), high = low;

    if (fits(s, &low) && low.at) {
        low = try_index(s, plan, 0, &all);
        high = fits(s, &low) ? low : high;
    }
    if (!fits(s, &high) && s->path->last_index)
        high = try_index(s, plan, s->path->last_index, &all);
    if (!fits(s, &low) && !fits(s, &high) && !s->best.is_found)
        look_along(s, plan, &low, &high, &all);
    TriedIndex last = high;
    for (int round = 0; high.at - low.at > 1 && fits(s, &high) && !s->d->errors; round++) {
        TriedIndex p = try_index(s, plan, guess(s, &low, &high, round), &all);
        if (fits(s, &p))
            high = p;
        else
            low = p;
        if (is_hopeless(s, &low, &high, &last))
            break;
    }
    if (fits(s, &high) && high.at)
        look_before(s, plan, &high, &all);
    if (fits(s, &high))
        look_after(s, plan, high, &all);
    s->before = all;
    *arena_push(s->a, s->considered, s->n_considered, s->cap_considered) = (Considered){plan, all};
    if (fits(s, &high) && !s->d->errors)
        keep_shorter(&s->soonest, plan, &high);
}

void along_path_limit(AlongPath *s, int64_t memory)
{
    s->memory = memory;
    s->best = s->soonest = (Candidate){0};
    for (int k = 0; k < s->n_considered; k++) {
        const Considered *x = &s->considered[k];
        for (int i = x->tried.n - 1; i >= 0; i--)
            if (fits(s, &x->tried.index[i]))
                keep_shorter(&s->best, x->plan, &x->tried.index[i]);
        for (int i = 0; i < x->tried.n; i++)
            if (fits(s, &x->tried.index[i])) {
                keep_shorter(&s->soonest, x->plan, &x->tried.index[i]);
                break;
            }
    }
}

static void keep_less(const AlongPath *s, const ModelPlan *plan, int at, int64_t *bytes, int *least)
{
    int64_t found = along_path_try(s, plan, at).bytes;

    if (found < *bytes) {
        *bytes = found;
        *least = at;
    }
}

// Layers whose backward part comes first run again while all else is kept, so the least is often
// near the last index, where a few keep more, or where a step of few layers dips.
int along_path_least(const AlongPath *s, const ModelPlan *plan)
{
    int last = s->path->last_index, least = last;
    int64_t bytes = along_path_try(s, plan, last).bytes;

    for (int back = 1; back <= last / 2 && least == last - back / 2; back *= 2)
        keep_less(s, plan, last - back, &bytes, &least);
    for (int i = s->path->n_steps - 1; i >= 0; i--) {
        const KeepStep *x = &s->path->step[i];
        int tried = keep_path_begin(s->path, i), end = tried + x->n_layers;
        double from = (double)(end < last ? along_path_try(s, plan, end).bytes : bytes);
        if (from * (1 - dip(x)) >= (double)bytes)
            break;  // the steps before it take more
        for (int k = 0; k < LOOKS && dip(x) >= LARGE_DIP; k++) {
            int at = look_at(s->path, LOOKS * i + k);
            if (at <= tried || at >= end)
                continue;
            keep_less(s, plan, at, &bytes, &least);
            tried = at;
        }
    }
    return least;
}
