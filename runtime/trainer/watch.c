// Implements --check-arena: the trainer watches its memory. Bytes that aren't in use are filled
// with NaN, and before each kernel call the watch checks the redzones after the buffers.
//
// The NaN in a buffer that isn't in use encodes the buffer: its bits are all ones minus the
// buffer's number. Arithmetic propagates the bits of a NaN, so the number shows up in the result.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/device.h"
#include "runtime/trainer/watch.h"

// The NaNs are quiet, as floats and as the upper halves of doubles. Buffers are numbered from 1; 0
// is no buffer.
static const uint32_t ONES = 0xffffffff, NUMBERS = 0x7ffff;

typedef struct Timeline {
    RtLiveRange *range;  // index: number - 1; persistent buffers come first
    int n;
    RtLoop *loop;
    int *iteration;  // by loop: the one that runs
    int n_loops;
    int end;  // the statement after the last; 0: unknown
} Timeline;

struct RtWatch {
    const RtModel *model;
    Rt *rt;
    int64_t (*kept)[2];  // byte ranges that keep their contents between steps, sorted
    int n_kept;
    Timeline timeline[2];  // by RtSet
    const Timeline *now;   // of the running set, at statement `at`; -1: before the first
    RtSet set;
    int at;
    int shared;        // the last statement that micro-batches share; -1: there is none
    const char *call;  // the running call; NULL: no call yet
    bool is_in_runs;   // calls belong to the statement `at`
    bool is_broken;
};

static int by_start(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (x[0] > y[0]) - (x[0] < y[0]);
}

static void list_kept(RtWatch *w)
{
    const RtModel *m = w->model;
    unsigned kept = 1u << RT_PARAMETER | 1u << RT_BUFFER | 1u << RT_STATE | 1u << RT_ZERO |
                    1u << RT_CONSTANT | 1u << RT_HYPER;
    RtEntries e = rt_entries(m->tensors, m->n_tensors, kept);

    w->kept = rt_alloc((size_t)e.n, sizeof *w->kept);
    w->n_kept = e.n;
    for (int i = 0; i < e.n; i++) {
        w->kept[i][0] = rt_tensor_at(e.tensor[i], e.layer[i]);
        w->kept[i][1] = w->kept[i][0] + rt_bytes(m, e.tensor[i]);
    }
    qsort(w->kept, (size_t)e.n, sizeof *w->kept, by_start);
    rt_entries_free(&e);
}

// ---- timelines ----

// The live range of a persistent tensor: always, from its offset to its end. Its buffer may begin
// before it.
static RtLiveRange live_range_of(const RtModel *m, const RtTensor *t)
{
    int64_t end = t->at + (rt_layers(t) - 1) * t->step + rt_bytes(m, t);

    return (RtLiveRange){
        .name = t->name, .offset = t->at, .bytes = (end + 63) / 64 * 64 - t->at, .last = INT_MAX};
}

void rt_live_ranges(Rt *rt, RtSet set, const RtLiveRange *range, const RtLoop *loop)
{
    RtWatch *w = rt->watch;
    const RtModel *m = w->model;
    Timeline *p = &w->timeline[set];
    int n = 0;

    while (range[n].name)
        n++;
    while (loop[p->n_loops].iterations)
        p->n_loops++;
    p->range = rt_alloc((size_t)(m->n_tensors + n), sizeof *p->range);
    p->loop = rt_alloc((size_t)p->n_loops, sizeof *p->loop);
    p->iteration = rt_alloc((size_t)p->n_loops, sizeof *p->iteration);
    memcpy(p->loop, loop, (size_t)p->n_loops * sizeof *loop);
    for (int i = 0; i < m->n_tensors; i++)
        p->range[p->n++] = live_range_of(m, &m->tensors[i]);
    for (int i = 0; i < n; i++) {
        p->range[p->n++] = range[i];
        p->end = range[i].last > p->end ? range[i].last : p->end;
    }
}

static void fill_ones(const RtWatch *w, int64_t from, int64_t bytes)
{
    w->rt->device->fill(w->rt, from, &(uint8_t){0xff}, 1, bytes);
}

void rt_watch_open(Rt *rt, const RtModel *m)
{
    RtWatch *w = rt_alloc(1, sizeof *w);

    *w = (RtWatch){.model = m, .rt = rt};
    rt->watch = w;
    list_kept(w);
    fill_ones(w, 0, m->arena_bytes);
    if (m->live_ranges)
        m->live_ranges(rt);
    for (int s = 0; s < 2; s++)
        if (!w->timeline[s].range)
            rt_live_ranges(rt, s, &(RtLiveRange){0}, &(RtLoop){0});
}

void rt_watch_close(RtWatch *w)
{
    for (int s = 0; w && s < 2; s++) {
        free(w->timeline[s].range);
        free(w->timeline[s].loop);
        free(w->timeline[s].iteration);
    }
    if (w)
        free(w->kept);
    free(w);
}

// ---- buffers ----

static uint32_t mark_of(const RtWatch *w, const RtLiveRange *l)
{
    uint32_t number = (uint32_t)(l - w->now->range) + 1;

    return ONES - (number < NUMBERS ? number : 0);
}

static void mark(const RtWatch *w, const RtLiveRange *l, int64_t from, int64_t bytes)
{
    uint32_t x = mark_of(w, l);

    if (bytes > 0)
        w->rt->device->fill(w->rt, l->offset + from, &x, sizeof x, bytes / (int64_t)sizeof x);
}

// How often the loop that ends at a statement has run all of its items, if it runs or has run; at
// most once for each iteration except the last.
static int iterations_done(const RtWatch *w, const RtLoop *l)
{
    int iteration = w->now->iteration[l - w->now->loop];

    if (w->at < l->begin)
        return 0;
    return w->at <= l->end && iteration < l->iterations ? iteration : l->iterations - 1;
}

static const RtLoop *loop_before(const Timeline *p, int end)
{
    for (int i = 0; end && i < p->n_loops; i++)
        if (p->loop[i].end == end)
            return &p->loop[i];
    return NULL;
}

// The bytes [low, high) of a live buffer that are in use now. A redzone follows them.
typedef struct Part {
    int64_t low, high;
} Part;

static Part part_in_use(const RtWatch *w, const RtLiveRange *l)
{
    const RtLoop *taken = loop_before(w->now, l->taken), *freed = loop_before(w->now, l->freed);
    bool takes = taken && w->at <= taken->end;
    bool frees = !takes && freed && w->at >= freed->begin;
    int unused = takes   ? taken->iterations - 1 - iterations_done(w, taken)
                 : frees ? iterations_done(w, freed)
                         : 0;

    if (takes ? l->takes_down : !l->frees_down)
        return (Part){unused * l->slot, l->bytes};
    return (Part){0, l->bytes - unused * l->slot};
}

static void mark_redzone(const RtWatch *w, const RtLiveRange *l)
{
    mark(w, l, part_in_use(w, l).high, w->model->redzone);
}

// Does the redzone after a buffer still have its mark?
static bool has_mark(const RtWatch *w, const RtLiveRange *l)
{
    enum { WORDS = 16 };
    int64_t end = l->offset + part_in_use(w, l).high;
    uint32_t zone[WORDS], x = mark_of(w, l);
    bool ok = true;

    for (int64_t at = 0, n; at < w->model->redzone / 4; at += n) {
        n = w->model->redzone / 4 - at < WORDS ? w->model->redzone / 4 - at : WORDS;
        w->rt->device->copy_out(w->rt, zone, end + 4 * at, 4 * n);
        for (int64_t k = 0; k < n; k++)
            ok &= zone[k] == x;
    }
    return ok;
}

// Is the buffer in use at the current statement? Before the first one, only what the trainer sets
// is in use.
static bool is_live(const RtWatch *w, const RtLiveRange *l)
{
    int at = w->at > 0 ? w->at : 0;

    return l->first <= at && at <= l->last;
}

static void check_zones(RtWatch *w)
{
    for (int i = 0; i < w->now->n && !w->is_broken; i++) {
        const RtLiveRange *l = &w->now->range[i];

        w->is_broken = is_live(w, l) && !has_mark(w, l);
        if (w->is_broken && w->call)
            rt_error(w->model, "arena: %s wrote past the end of %s", w->call, l->name);
        else if (w->is_broken)
            rt_error(w->model, "arena: something wrote past the end of %s", l->name);
    }
}

// Fills all bytes outside of n sorted ranges, and marks the redzones of what is in use.
static void fill_between(RtWatch *w, int64_t (*kept)[2], int n)
{
    int64_t at = 0;

    w->is_in_runs = false;
    w->call = NULL;
    for (int i = 0; i <= n; i++) {
        int64_t next = i < n ? kept[i][0] : w->model->arena_bytes;
        if (next > at)
            fill_ones(w, at, next - at);
        at = i < n && kept[i][1] > at ? kept[i][1] : at;
    }
    for (int i = 0; i < w->now->n; i++)
        if (is_live(w, &w->now->range[i]))
            mark_redzone(w, &w->now->range[i]);
}

void rt_watch_begin(RtWatch *w, RtSet set)
{
    if (!w)
        return;
    w->now = &w->timeline[set];
    w->set = set;
    w->at = w->shared = -1;
    fill_between(w, w->kept, w->n_kept);
}

void rt_watch_share(RtWatch *w)
{
    if (w)
        w->shared = w->at;
}

void rt_watch_next(RtWatch *w)
{
    int64_t(*kept)[2];
    int n;

    if (!w)
        return;
    n = w->n_kept;
    kept = rt_alloc((size_t)(n + w->now->n), sizeof *kept);
    memcpy(kept, w->kept, (size_t)n * sizeof *kept);
    for (int i = 0; i < w->now->n; i++) {
        const RtLiveRange *l = &w->now->range[i];
        if (l->first > w->shared || l->last <= w->shared)
            continue;
        kept[n][0] = l->offset;
        kept[n++][1] = l->offset + l->bytes;
    }
    qsort(kept, (size_t)n, sizeof *kept, by_start);
    w->at = w->shared;
    fill_between(w, kept, n);
    free(kept);
}

// ---- statements ----

// The number of the loop whose begin or end is this statement; -1 if it is a call.
static int loop_at(const Timeline *p, int statement)
{
    int i = p->n_loops - 1;

    while (i >= 0 && p->loop[i].begin != statement && p->loop[i].end != statement)
        i--;
    return i;
}

// Does the run skip the statement? It skips a loop's begin and end, and pipelined calls whose own
// iteration isn't between the first and the last one.
static bool is_skipped(const Timeline *p, int statement)
{
    if (loop_at(p, statement) >= 0)
        return true;
    for (int i = 0; i < p->n_loops; i++) {
        const RtLoop *l = &p->loop[i];
        int skewed = 0, most = 0;
        for (int k = 0; k < RT_MAX_SKEW && l->skewed[k]; k++, most++)
            skewed += l->skewed[k] <= statement;
        if (l->begin < statement && statement < l->end &&
            (p->iteration[i] < skewed || p->iteration[i] >= l->iterations - most + skewed))
            return true;
    }
    return false;
}

// Ends an iteration of loop `at`: fills the slots that it has used last, and then sets the redzones
// of buffers of which the next iteration uses one slot more or less.
static void end_turn(RtWatch *w, int at)
{
    const Timeline *p = w->now;
    int end = p->loop[at].end;

    for (int i = 0; i < p->n; i++) {
        const RtLiveRange *l = &p->range[i];
        if (!is_live(w, l) || l->freed != end)
            continue;
        Part now = part_in_use(w, l);
        mark(w, l, l->frees_down ? now.high - l->slot : now.low, l->slot);
    }
    p->iteration[at]++;
    for (int i = 0; i < p->n; i++)
        if (is_live(w, &p->range[i]) && (p->range[i].taken == end || p->range[i].freed == end))
            mark_redzone(w, &p->range[i]);
}

// Moves on by one statement: fills buffers whose live range ended, and sets the redzones of those
// whose live range begins.
static void advance(RtWatch *w)
{
    const Timeline *p = w->now;

    for (int i = 0; i < p->n; i++)
        if (p->range[i].last == w->at) {
            Part x = part_in_use(w, &p->range[i]);
            mark(w, &p->range[i], x.low, x.high - x.low);
        }
    w->at++;
    int at = loop_at(p, w->at);
    if (at >= 0 && p->loop[at].end == w->at) {
        bool is_last = p->iteration[at] + 1 >= p->loop[at].iterations;
        if (is_last)
            p->iteration[at]++;
        else
            end_turn(w, at);
        w->at = is_last ? w->at : p->loop[at].begin + 1;
        at = loop_at(p, w->at);
    }
    if (at >= 0 && p->loop[at].begin == w->at)
        p->iteration[at] = 0;
    for (int i = 0; i < p->n; i++)
        if (p->range[i].first == w->at)
            mark_redzone(w, &p->range[i]);
}

void rt_watch_call(RtWatch *w, const char *what)
{
    check_zones(w);
    if (!w->is_in_runs)
        do
            advance(w);
        while (is_skipped(w->now, w->at));
    w->call = what;
}

void rt_watch_runs_begin(RtWatch *w)
{
    if (!w)
        return;
    rt_watch_call(w, "the start of the runs");
    w->is_in_runs = true;
}

void rt_watch_runs_end(RtWatch *w)
{
    if (w)
        w->is_in_runs = false;
}

// ---- values ----

// The number of the unused buffer whose NaN is among `count` floats of `words` words at `from`;
// NUMBERS if there is none.
static uint32_t stray_among(const RtWatch *w, int64_t from, int64_t count, int words)
{
    enum { WORDS = 1024 };
    uint32_t x[WORDS];

    for (int64_t at = 0, n; at < count * words; at += n) {
        n = count * words - at < WORDS ? count * words - at : WORDS;
        w->rt->device->copy_out(w->rt, x, from + 4 * at, 4 * n);
        for (int64_t i = words - 1; i < n; i += words)
            if (ONES - x[i] < NUMBERS)
                return ONES - x[i];
    }
    return NUMBERS;
}

// The number of the unused buffer whose NaN has got into this tensor; NUMBERS if there is none.
// Outside of this rank's shard, a tensor has padding with any contents.
static uint32_t stray_number(const RtWatch *w, const RtTensor *t)
{
    int words = t->type == RT_F32 ? 1 : t->type == RT_F64 ? 2 : 0;
    uint32_t number = NUMBERS;

    for (int layer = 0; layer < rt_layers(t) && words; layer++)
        for (RtRuns r = rt_runs(w->model, t, w->rt->shard); number == NUMBERS && rt_runs_next(&r);)
            number = stray_among(w, rt_tensor_at(t, layer) + r.own * 4 * words, r.count, words);
    return number;
}

static void check_values(RtWatch *w, const RtTensor *t, int n, unsigned roles)
{
    for (int i = 0; i < n && !w->is_broken; i++) {
        uint32_t number = roles >> t[i].role & 1 ? stray_number(w, &t[i]) : NUMBERS;
        if (number == NUMBERS)
            continue;
        w->is_broken = true;
        bool is_known = number > 0 && number <= (uint32_t)w->now->n;
        rt_error(w->model, "arena: %s depends on bytes %s%s", t[i].name,
                 is_known ? "outside the live range or the bounds of " : "outside all buffers",
                 is_known ? w->now->range[number - 1].name : "");
    }
}

bool rt_watch_check(RtWatch *w)
{
    static const unsigned kept = 1u << RT_PARAMETER | 1u << RT_BUFFER | 1u << RT_STATE;
    static const unsigned made =
        1u << RT_OUTPUT | 1u << RT_LOSS_SUM | 1u << RT_LOSS_COUNT | 1u << RT_GRAD_NORM;

    if (!w)
        return true;
    const RtModel *m = w->model;
    bool is_training = w->set == RT_TRAINING;
    check_zones(w);
    check_values(w, is_training ? m->train : m->predict, is_training ? m->n_train : m->n_predict,
                 made);
    check_values(w, m->tensors, m->n_tensors, kept);
    return !w->is_broken;
}

bool rt_watch_end(RtWatch *w)
{
    if (!rt_watch_check(w))
        return false;
    while (w && w->now->end && loop_at(w->now, w->at + 1) >= 0)
        advance(w);
    if (w && w->now->end && w->at + 1 != w->now->end)
        return rt_error(w->model, "arena: %d statements were run, expected %d", w->at + 1,
                        w->now->end);
    return true;
}
