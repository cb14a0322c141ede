// Adds rows into a table by index. Each row of the table is the sum of its segment, the rows that
// are meant for it in the order of the index: the index is sorted by counting, and the threads
// share rows and columns of the table, so no bit depends on their number. Where there are many
// slices [batch, outer] the threads share those, and nothing is sorted.
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "runtime/cpu/internal.h"

enum { COLUMNS = 64 };  // of a part, at least

// The index of one batch by rows of the table: the segment of row r ends at end[r] of `order` and
// begins where the one before ends.
typedef struct Segments {
    int64_t *end, *order;
    int64_t longest;  // of the segments
} Segments;

static int64_t begin_of(const Segments *s, int64_t row) { return row ? s->end[row - 1] : 0; }

static void sort_index(const RtGather *p, const void *index, int64_t batch, Segments *s)
{
    int64_t first = batch * p->index, total = 0;

    memset(s->end, 0, sizeof *s->end * (size_t)p->n);
    s->longest = 0;
    for (int64_t j = 0; j < p->index; j++) {
        int64_t at = rt_index(p, index, first + j);
        if (at >= 0)
            s->end[at]++;
    }
    for (int64_t r = 0; r < p->n; r++) {
        int64_t count = s->end[r];
        s->end[r] = total;
        s->longest = rt_most(s->longest, count);
        total += count;
    }
    for (int64_t j = 0; j < p->index; j++) {
        int64_t at = rt_index(p, index, first + j);
        if (at >= 0)
            s->order[s->end[at]++] = j;
    }
}

// The first row of part `i` of `n`, which are alike in how many rows are made and added.
static int64_t cut(const RtGather *p, const Segments *s, int64_t i, int64_t n)
{
    int64_t low = 0, high = p->n, share = rt_share(begin_of(s, p->n) + p->n, i, n);

    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (begin_of(s, middle) + middle < share)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// A table that no cache holds is written past them: memory then takes its rows without bringing
// first what they are written over. They are lines of 64 bytes.
static bool is_beyond_cache(const void *table, int64_t bytes, int64_t row)
{
    enum { CACHE = 64 << 20 };

    return bytes > CACHE && row % 64 == 0 && (uintptr_t)table % 64 == 0;
}

// Writes a row; zeros where `from` is NULL. Others may read what is far after put_done.
static inline void put_row(void *to, const void *from, int64_t bytes, bool is_far)
{
#ifdef __AVX512F__
    for (int64_t i = 0; is_far && i < bytes; i += 64)
        _mm512_stream_si512((__m512i *)((char *)to + i),
                            from ? _mm512_loadu_si512((const char *)from + i)
                                 : _mm512_setzero_si512());
    if (is_far)
        return;
#endif
    if (from)
        memcpy(to, from, (size_t)bytes);
    else
        memset(to, 0, (size_t)bytes);
}

static void put_done(void)
{
#ifdef __AVX512F__
    _mm_sfence();
#endif
}

// What a thread makes of a slice: table rows, columns.
typedef struct Part {
    int64_t row, row_end, column, column_end;
    bool is_far;
} Part;

// Calls for the row that is added RT_AHEAD rows after the k-th.
static inline void call_ahead(const Segments *s, int64_t k, int64_t last, const char *rows,
                              int64_t stride, int64_t bytes)
{
    if (k + RT_AHEAD < last)
        rt_prefetch(rows + s->order[k + RT_AHEAD] * stride, bytes);
}

// T elements, added in S. The first two rows of a segment are added as they are read: what is
// copied without being looked at goes past the cache, and would come back from memory.
#define ADD(T, S, name)                                                                            \
    static void add_##name(T *to, const T *a, const T *b, int64_t n)                               \
    {                                                                                              \
        RT_SIMD                                                                                    \
        for (int64_t c = 0; c < n; c++)                                                            \
            to[c] = (T)((S)a[c] + (S)b[c]);                                                        \
    }                                                                                              \
                                                                                                   \
    static void add_far_##name(T *to, const T *a, const T *b, int64_t n)                           \
    {                                                                                              \
        enum { LINE = 64 / sizeof(T) };                                                            \
                                                                                                   \
        for (int64_t c = 0; c < n; c += LINE) {                                                    \
            T sum[LINE];                                                                           \
            add_##name(sum, a + c, b + c, LINE);                                                   \
            put_row(to + c, sum, sizeof sum, true);                                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void add_segments_##name(const RtGather *p, const Segments *s, const Part *a,           \
                                    void *table, const void *rows)                                 \
    {                                                                                              \
        int64_t width = a->column_end - a->column, last = begin_of(s, a->row_end);                 \
        int64_t bytes = (int64_t)sizeof(T) * width, stride = (int64_t)sizeof(T) * p->inner;        \
        const T *from = (const T *)rows + a->column;                                               \
                                                                                                   \
        for (int64_t r = a->row, k = begin_of(s, r); r < a->row_end; r++) {                        \
            T *to = (T *)table + r * p->inner + a->column;                                         \
            int64_t n = s->end[r] - k;                                                             \
                                                                                                   \
            for (int64_t i = 0; i < rt_least(n, 2); i++)                                           \
                call_ahead(s, k + i, last, (const char *)from, stride, bytes);                     \
            if (n < 2)                                                                             \
                put_row(to, n ? from + s->order[k] * p->inner : NULL, bytes, a->is_far);           \
            else                                                                                   \
                (a->is_far && n == 2 ? add_far_##name : add_##name)(                               \
                    to, from + s->order[k] * p->inner, from + s->order[k + 1] * p->inner, width);  \
            for (k += rt_least(n, 2); k < s->end[r]; k++) {                                        \
                call_ahead(s, k, last, (const char *)from, stride, bytes);                         \
                add_##name(to, to, from + s->order[k] * p->inner, width);                          \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void add_slice_##name(const RtGather *p, const void *index, int64_t slice, void *table, \
                                 const void *rows)                                                 \
    {                                                                                              \
        memset(table, 0, sizeof(T) * (size_t)(p->n * p->inner));                                   \
        for (int64_t j = 0; j < p->index; j++) {                                                   \
            int64_t at = rt_index(p, index, slice / p->outer * p->index + j);                      \
            T *to = (T *)table + at * p->inner;                                                    \
            if (at >= 0)                                                                           \
                add_##name(to, to, (const T *)rows + j * p->inner, p->inner);                      \
        }                                                                                          \
    }
ADD(float, float, f32)
ADD(double, double, f64)
#define INT_ADD(type, T, name) ADD(T, uint64_t, name)  // whole sums wrap
RT_EACH_INT(INT_ADD)

// The two ways to add, for one type.
typedef struct Adder {
    void (*segments)(const RtGather *p, const Segments *s, const Part *a, void *table,
                     const void *rows);
    void (*slice)(const RtGather *p, const void *index, int64_t slice, void *table,
                  const void *rows);
} Adder;

static Adder adder_of(RtType t)
{
    switch (rt_plain(t)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        return (Adder){add_segments_##name, add_slice_##name};
        RT_EACH_NUMBER(CASE)
    default:
        abort();
    }
}

// All slices of one batch. Memory likes whole rows, but a segment that is longer than a thread's
// share is cut across the columns, as far as that goes.
static void add_batch(Rt *rt, const RtGather *p, const Segments *s, char *table, const char *rows)
{
    int64_t bytes = rt_type_bytes(p->type), team = rt_team(rt, (p->n + p->index) * p->inner);
    bool is_even = s->longest * team <= begin_of(s, p->n) + p->n;
    int64_t across = is_even ? 1 : rt_most(1, rt_least(team, p->inner / COLUMNS));
    int64_t down = rt_ceil_div(team, across), parts = across * down, row = p->inner * bytes;
    bool is_far = across == 1 && is_beyond_cache(table, p->outer * p->n * row, row);

#pragma omp parallel for num_threads((int)team) schedule(static)
    for (int64_t i = 0; i < p->outer * parts; i++) {
        int64_t o = i / parts, y = i % parts / across, x = i % across;
        Part a = {cut(p, s, y, down), cut(p, s, y + 1, down), rt_share(p->inner, x, across),
                  rt_share(p->inner, x + 1, across), is_far};
        adder_of(p->type).segments(p, s, &a, table + o * p->n * row, rows + o * p->index * row);
        put_done();
    }
}

void rt_scatter_add(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index)
{
    int64_t slices = p->batch * p->outer, bytes = rt_type_bytes(p->type) * p->inner;
    Segments s = {.end = (int64_t *)rt->workspace, .order = (int64_t *)rt->workspace + p->n};

    for (int64_t b = 0; b < p->batch && rt_scatter_workspace(p); b++) {
        int64_t slice = b * p->outer;
        sort_index(p, index, b, &s);
        add_batch(rt, p, &s, (char *)table + slice * p->n * bytes,
                  (const char *)rows + slice * p->index * bytes);
    }
    if (rt_scatter_workspace(p))
        return;
#pragma omp parallel for num_threads(rt_team(rt, slices *(p->n + p->index) * p->inner))            \
    schedule(static)
    for (int64_t i = 0; i < slices; i++)
        adder_of(p->type).slice(p, index, i, (char *)table + i * p->n * bytes,
                                (const char *)rows + i * p->index * bytes);
}
