// Resamples along one dim. A table says for each result which neighbours it sums, and their
// weights. Threads make it in the workspace before they use it: computing one line's taps takes
// little time next to all lines, and so the compiler needs no constants as long as the dim.
//
// If elements along the dim aren't contiguous, results are computed in rows. If they are, rows are
// made of LINES lines by transposing, as long as neighbouring results read neighbouring elements;
// else results are computed one by one.
#include "runtime/cpu/internal.h"
#include "runtime/rt_resample.h"

enum {
    LINES = 32,     // lines that are transposed together
    RESULTS = 128,  // results of a line in a block
    WINDOW = 256,   // elements that these may read; so both blocks of lines fit into the L1 cache
    ROWS = 32,      // rows of results in a task
    COLUMNS =
        1024,    // columns in a task; so rows stay in the L1 cache for the results that share them
    DEPTH = 32,  // taps that are summed in float, before the sums are added in double
};

// Result r sums the `count[r]` elements from first[r] on. Their weights are weight[at[r]] and so
// on.
typedef struct Table {
    int64_t results;
    int64_t *first, *count, *at;
    double *weight;
} Table;

static Table table_in(char *buffer, int64_t results)
{
    int64_t *at = (int64_t *)(void *)buffer;

    return (Table){results, at, at + results, at + 2 * results, (double *)(at + 3 * results)};
}

// All threads call it; it ends with a barrier.
static void make_table(const RtResample *p, const Table *t)
{
    int64_t most = rt_resample_most(p);

#pragma omp for schedule(static)
    for (int64_t o = 0; o < p->size; o++) {
        RtTapsAt taps = rt_resample_taps(p, o);

        t->first[o] = taps.first;
        t->count[o] = taps.count;
        t->at[o] = o * most;
        for (int64_t k = 0; k < taps.count; k++)
            t->weight[o * most + k] = rt_resample_weight(p, &taps, k);
    }
}

// The positions that read element i: `count` of them from `first` on. Coordinates grow or fall
// along the positions, so a binary search finds both ends.
static void find_readers(const RtResample *p, const Table *t, int64_t i, int64_t *first,
                         int64_t *count)
{
    bool falls = (p->mul < 0) != (p->div < 0);
    int64_t end[2];

    for (int k = 0; k < 2; k++) {
        int64_t low = 0, high = p->size;
        while (low < high) {
            int64_t o = low + (high - low) / 2;
            bool is_above = t->first[o] > i, is_below = t->first[o] + t->count[o] <= i;
            bool is_before = falls ? is_above : is_below, is_past = falls ? is_below : is_above;
            if (k == 0 ? is_before : !is_past)
                low = o + 1;
            else
                high = o;
        }
        end[k] = low;
    }
    *first = end[0];
    *count = end[1] - end[0];
}

// The table of the adjoint from that of the positions.
static void make_transposed(const RtResample *p, const Table *from, const Table *to)
{
#pragma omp for schedule(static)
    for (int64_t i = 0; i < p->n; i++)
        find_readers(p, from, i, &to->first[i], &to->count[i]);
#pragma omp single
    for (int64_t i = 0, at = 0; i < p->n; at += to->count[i++])
        to->at[i] = at;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < to->count[i]; k++) {
            int64_t o = to->first[i] + k;
            to->weight[to->at[i] + k] = from->weight[from->at[o] + i - from->first[o]];
        }
}

// ---- results ----

// A row of results with N taps.
#define FEW(N, T, y, x, stride, width, w)                                                          \
    do {                                                                                           \
        T few[N];                                                                                  \
        for (int few_k = 0; few_k < N; few_k++)                                                    \
            few[few_k] = (T)(w)[few_k];                                                            \
        RT_SIMD for (int64_t c = 0; c < (width); c++)                                              \
        {                                                                                          \
            T few_sum = few[0] * (x)[c];                                                           \
            for (int few_k = 1; few_k < N; few_k++)                                                \
                few_sum += few[few_k] * (x)[few_k * (stride) + c];                                 \
            (y)[c] = few_sum;                                                                      \
        }                                                                                          \
    } while (0)

// row: `width` neighbouring results from rows of x that are `stride` apart. single: one result of
// neighbouring elements.
#define RESULTS_OF(T, name)                                                                        \
    static void many_##name(T *y, const T *x, int64_t stride, int64_t width, const double *w,      \
                            int64_t n)                                                             \
    {                                                                                              \
        for (int64_t from = 0; from < width; from += LINES) {                                      \
            int64_t lanes = rt_least(LINES, width - from);                                         \
            double total[LINES] = {0};                                                             \
                                                                                                   \
            for (int64_t begin = 0; begin < n; begin += DEPTH) {                                   \
                T sum[LINES] = {0};                                                                \
                for (int64_t k = begin; k < rt_least(n, begin + DEPTH); k++)                       \
                    RT_SIMD for (int64_t c = 0; c < lanes; c++) sum[c] +=                          \
                        (T)w[k] * x[k * stride + from + c];                                        \
                for (int64_t c = 0; c < lanes; c++)                                                \
                    total[c] += (double)sum[c];                                                    \
            }                                                                                      \
            for (int64_t c = 0; c < lanes; c++)                                                    \
                y[from + c] = (T)total[c];                                                         \
        }                                                                                          \
    }                                                                                              \
    static inline void row_##name(const Table *t, int64_t r, T *y, const T *x, int64_t stride,     \
                                  int64_t width)                                                   \
    {                                                                                              \
        const double *w = t->weight + t->at[r];                                                    \
                                                                                                   \
        switch (t->count[r]) {                                                                     \
        case 1:                                                                                    \
            FEW(1, T, y, x, stride, width, w);                                                     \
            break;                                                                                 \
        case 2:                                                                                    \
            FEW(2, T, y, x, stride, width, w);                                                     \
            break;                                                                                 \
        case 3:                                                                                    \
            FEW(3, T, y, x, stride, width, w);                                                     \
            break;                                                                                 \
        case 4:                                                                                    \
            FEW(4, T, y, x, stride, width, w);                                                     \
            break;                                                                                 \
        default:                                                                                   \
            many_##name(y, x, stride, width, w, t->count[r]);                                      \
        }                                                                                          \
    }                                                                                              \
    static void single_##name(const Table *t, int64_t r, T *y, const T *x)                         \
    {                                                                                              \
        const double *w = t->weight + t->at[r];                                                    \
        double total = 0;                                                                          \
                                                                                                   \
        RT_RUNS(k, end, 0, t->count[r])                                                            \
        {                                                                                          \
            T sum = 0;                                                                             \
            RT_SIMD_SUM(sum) for (int64_t j = k; j < end; j++) sum += (T)w[j] * x[j];              \
            total += (double)sum;                                                                  \
        }                                                                                          \
        *y = (T)total;                                                                             \
    }                                                                                              \
    static void rows_##name(const Table *t, int64_t n, int64_t outer, int64_t inner, T *y,         \
                            const T *x)                                                            \
    {                                                                                              \
        int64_t down = rt_ceil_div(t->results, ROWS), across = rt_ceil_div(inner, COLUMNS);        \
                                                                                                   \
        RT_PRAGMA(omp for schedule(static))                                                        \
        for (int64_t b = 0; b < outer * down * across; b++) {                                      \
            int64_t from = b % across * COLUMNS, row = b / across % down * ROWS;                   \
            int64_t slice = b / across / down, width = rt_least(COLUMNS, inner - from);            \
            for (int64_t r = row; r < rt_least(t->results, row + ROWS); r++)                       \
                row_##name(t, r, y + (slice * t->results + r) * inner + from,                      \
                           x + (slice * n + t->first[r]) * inner + from, inner, width);            \
        }                                                                                          \
    }                                                                                              \
    static void singles_##name(const Table *t, int64_t first, int64_t last, T *y, const T *x)      \
    {                                                                                              \
        for (int64_t r = first; r < last; r++)                                                     \
            single_##name(t, r, y + r, x + t->first[r]);                                           \
    }
RESULTS_OF(float, f32)
RESULTS_OF(double, f64)

// ---- lines of contiguous elements ----

// The elements that results [first, last) read: the first one, and one after the last.
static void window_of(const Table *t, int64_t first, int64_t last, int64_t *begin, int64_t *end)
{
    int64_t other = last - 1;

    *begin = rt_least(t->first[first], t->first[other]);
    *end = rt_most(t->first[first] + t->count[first], t->first[other] + t->count[other]);
}

// Results [first, last) of `lines` lines of n elements.
static void block_of_lines(const Table *t, int64_t n, int64_t lines, int64_t first, int64_t last,
                           float *y, const float *x)
{
    float in[WINDOW * LINES], out[RESULTS * LINES];
    int64_t begin, end;

    window_of(t, first, last, &begin, &end);
    if (lines < RT_TRANSPOSE_BLOCK || end - begin > WINDOW) {
        for (int64_t i = 0; i < lines; i++)
            singles_f32(t, first, last, y + i * t->results, x + i * n);
        return;
    }
    rt_transpose(in, LINES, x + begin, n, lines, end - begin);
    for (int64_t r = first; r < last; r++)
        row_f32(t, r, out + (r - first) * LINES, in + (t->first[r] - begin) * LINES, LINES, lines);
    rt_transpose(y + first, t->results, out, LINES, last - first, lines);
}

static void lines_f32(const Table *t, int64_t n, int64_t lines, float *y, const float *x)
{
    // As many results as usually read WINDOW elements.
    int64_t each = rt_most(16, rt_least(RESULTS, WINDOW * t->results / rt_most(1, n) / 16 * 16));
    int64_t groups = rt_ceil_div(lines, LINES), blocks = rt_ceil_div(t->results, each);

#pragma omp for schedule(static)
    for (int64_t b = 0; b < groups * blocks; b++) {
        int64_t line = b / blocks * LINES, first = b % blocks * each;

        block_of_lines(t, n, rt_least(LINES, lines - line), first,
                       rt_least(t->results, first + each), y + line * t->results, x + line * n);
    }
}

static void lines_f64(const Table *t, int64_t n, int64_t lines, double *y, const double *x)
{
    int64_t blocks = rt_ceil_div(t->results, RESULTS);

#pragma omp for schedule(static)
    for (int64_t b = 0; b < lines * blocks; b++) {
        int64_t line = b / blocks, first = b % blocks * RESULTS;

        singles_f64(t, first, rt_least(t->results, first + RESULTS), y + line * t->results,
                    x + line * n);
    }
}

void rt_resample(Rt *rt, const RtResample *p, void *y, const void *x)
{
    Table positions = table_in(rt->workspace, p->size), elements = {0};
    int64_t taps = p->size * rt_resample_most(p), n = p->transposed ? p->size : p->n;

    if (p->transposed)
        elements = table_in(rt->workspace + 8 * (3 * p->size + taps), p->n);
    const Table *t = p->transposed ? &elements : &positions;
#pragma omp parallel num_threads(rt_team(rt, p->outer * p->inner * taps))
    {
        make_table(p, &positions);
        if (p->transposed)
            make_transposed(p, &positions, &elements);
        if (p->inner != 1 && p->type == RT_F32)
            rows_f32(t, n, p->outer, p->inner, y, x);
        else if (p->inner != 1)
            rows_f64(t, n, p->outer, p->inner, y, x);
        else if (p->type == RT_F32)
            lines_f32(t, n, p->outer, y, x);
        else
            lines_f64(t, n, p->outer, y, x);
    }
}
