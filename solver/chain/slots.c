// The dynamic program on slots of memory. The innermost loops run over slots, and are vectors.
#include <math.h>

#include "solver/chain/internal.h"

#if defined __x86_64__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

// After so many choices the best times are made to fall from slot to slot, so that slots in which
// the next ones can't win are found: 200 stages of three policies then take 1.3 s instead of 1.8 s.
enum { SETTLE_EVERY = 32 };
// The most times of a table: 4 GiB.
enum { MAX_TIMES = 1 << 29 };

static double smaller(double a, double b) { return a < b ? a : b; }

// to[i] = min(to[i], x[i] + y[i] + time)
WIDEST static void least_sum(double *restrict to, const double *x, const double *y, double time,
                             int n)
{
    for (int i = 0; i < n; i++) {
        double sum = x[i] + y[i] + time;
        to[i] = sum < to[i] ? sum : to[i];
    }
}

// to[i] = min(to[i], x[i] + time)
WIDEST static void least_shifted(double *restrict to, const double *x, double time, int n)
{
    for (int i = 0; i < n; i++) {
        double sum = x[i] + time;
        to[i] = sum < to[i] ? sum : to[i];
    }
}

// How many slots so many bytes take.
static int slots_up(const ChainTable *t, int64_t bytes)
{
    int64_t n = bytes / t->slot + (bytes % t->slot > 0);

    return n < t->n_slots + 1 ? (int)n : t->n_slots + 1;
}

static int earlier(int a, int b) { return a < b ? a : b; }

static int later(int a, int b) { return a > b ? a : b; }

// A slot at most `time`, the first one if best[] falls; `last` if none is found.
static int find_slot(const double *best, double time, int first, int last)
{
    while (first < last) {
        int middle = first + (last - first) / 2;
        if (best[middle] <= time)
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

// Lowers best[i] to the time that the choice gives in slot i, in all slots where that is less than
// in the slot before.
static void try_choice(const ChainTable *t, const Choice *c, double *best)
{
    const SlotRow *x = &t->slot_row[c->rest], *y = &t->slot_row[c->before];
    if (!x->n || !y->n)
        return;
    int x_first = x->first + slots_up(t, c->held), x_last = x_first + x->n - 1,
        y_last = y->first + y->n - 1;
    double x_least = x->time[x->n - 1], y_least = y->time[y->n - 1];
    int first = later(slots_up(t, c->need), later(x_first, y->first));
    // The slots from `end` on have a time that this choice doesn't reach at all.
    int end = find_slot(best, c->time + x_least + y_least, first, t->n_slots + 1);
    int both = earlier(earlier(x_last, y_last), end - 1),
        either = earlier(later(x_last, y_last), end - 1);

    if (first >= end)
        return;
    if (first > either)
        best[first] = smaller(best[first], c->time + x_least + y_least);
    if (first <= both)
        least_sum(best + first, x->time + (first - x_first), y->time + (first - y->first), c->time,
                  both - first + 1);
    first = later(first, both + 1);
    if (first <= either && x_last > y_last)
        least_shifted(best + first, x->time + (first - x_first), y_least + c->time,
                      either - first + 1);
    else if (first <= either)
        least_shifted(best + first, y->time + (first - y->first), x_least + c->time,
                      either - first + 1);
}

// More memory never takes more time.
static void settle(const ChainTable *t, double *best)
{
    for (int i = 1; i <= t->n_slots; i++)
        best[i] = smaller(best[i], best[i - 1]);
}

// Makes a row of the times, without the slots at the end that gain nothing.
static SlotRow make_row(Arena *a, const ChainTable *t, double *best)
{
    SlotRow row = {.first = t->n_slots + 1};
    int last = t->n_slots;

    settle(t, best);
    while (row.first > 0 && best[row.first - 1] < INFINITY)
        row.first--;
    while (last > row.first && best[last - 1] == best[last])
        last--;
    row.n = last - row.first + 1;
    row.time = arena_array(a, double, row.n);
    for (int i = 0; i < row.n; i++)
        row.time[i] = best[row.first + i];
    return row;
}

// ---- how many slots ----

// The greatest common divisor of all bytes; at least 1.
static int64_t common_divisor(const ChainProblem *p)
{
    int64_t d = 0;

    for (int i = 0; i < p->n_stages; i++) {
        const ChainStage *s = &p->stage[i];
        d = gcd(gcd(gcd(d, s->output), s->forward_scratch), s->backward_scratch);
        for (int k = 0; k < s->n_policies; k++)
            d = gcd(gcd(d, s->policy[k].saved), s->policy[k].more_scratch);
    }
    return d ? d : 1;
}

// As many slots as take about 0.2 seconds and 512 MiB, but not fewer than 2000 unless they take
// more than 1 GiB.
static int choose_slots(const ChainTable *t)
{
    enum { MIN_SLOTS = 2000, MAX_SLOTS = 1 << 16 };
    const double most_sums = 2e8, most_times = MAX_TIMES / 8;
    double sums = 0;

    for (int row = 1; row < t->n_rows; row++) {
        Subchain c = t->subchain[row];
        sums += c.last - c.first + t->p->stage[c.first].n_policies;
    }
    double n = smaller(most_sums / sums, most_times / t->n_rows);
    n = n > MIN_SLOTS ? n : smaller(MIN_SLOTS, 2 * most_times / t->n_rows);
    return n < MAX_SLOTS ? (int)n : MAX_SLOTS;
}

// A slot is the sizes' common divisor, with which nothing is rounded, if that gives few enough
// slots.
static void cut_memory(ChainTable *t, int slots)
{
    int64_t cut = t->most / slots, d = common_divisor(t->p);

    t->slot = d > cut ? d : cut;
    t->n_slots = (int)(t->most / t->slot);
}

void fill_slots(Arena *a, ChainTable *t, int slots)
{
    Arena *own = arena_new();
    Choice *choice = arena_array(own, Choice, t->p->n_stages + MAX_STAGE_POLICIES);

    slots = slots ? earlier(slots, later(MAX_TIMES / t->n_rows, 1)) : choose_slots(t);
    cut_memory(t, slots);
    double *best = arena_array(own, double, t->n_slots + 1);
    t->slot_row = arena_array(a, SlotRow, t->n_rows);
    t->slot_row[0] = (SlotRow){0, 1, arena_array(a, double, 1)};
    for (int row = 1; row < t->n_rows; row++) {
        Subchain c = t->subchain[row];
        int n = list_choices(t, c.first, c.last, choice);
        for (int i = 0; i <= t->n_slots; i++)
            best[i] = INFINITY;
        for (int i = 0; i < n; i++) {
            try_choice(t, &choice[i], best);
            if (i % SETTLE_EVERY == 0)
                settle(t, best);
        }
        t->slot_row[row] = make_row(a, t, best);
    }
    arena_free(own);
}

double slot_time(const ChainTable *t, int row, int64_t memory)
{
    const SlotRow *r = &t->slot_row[row];
    int64_t i = memory / t->slot - r->first;

    if (memory < 0 || i < 0 || !r->n)
        return INFINITY;
    return r->time[i < r->n ? i : r->n - 1];
}
