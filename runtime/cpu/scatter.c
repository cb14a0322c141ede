// Puts rows into a table by index, in the order of the index, so that results don't depend on the
// number of threads. If rows are wide, the index is sorted by counting, so that each row of the
// table has a segment: the rows to combine with it. The threads share rows and columns of the
// table. If rows are narrow or there are many slices [batch, outer], nothing is sorted: each thread
// reads an index, and takes what falls into its rows of the table.
#include <string.h>

#include "runtime/cpu/internal.h"

enum {
    COLUMNS = 64,        // minimum per part
    STRIP_BYTES = 1024,  // bytes of a row that are summed in one pass
};

// The index of one batch, sorted by the table's rows. The segment of row r ends at end[r] of
// `order` and begins where the segment before it ends.
typedef struct Segments {
    int64_t *end, *order;
    int64_t longest;  // length of the longest segment
} Segments;

static int64_t begin_of(const Segments *s, int64_t row) { return row ? s->end[row - 1] : 0; }

// Counts the indices of each row in [row, row_end); returns their total.
static int64_t count_rows(const RtGather *p, const void *index, int64_t first, int64_t row,
                          int64_t row_end, Segments *s)
{
    int64_t total = 0;

    memset(s->end + row, 0, sizeof *s->end * (size_t)(row_end - row));
    for (int64_t j = first; j < first + p->index; j++) {
        int64_t at = rt_index(p, index, j);
        if (at < row || at >= row_end)
            continue;
        s->end[at]++;
        total++;
    }
    return total;
}

// Sorts the indices of these rows into `order` from `begin` on; returns the length of the longest
// segment.
static int64_t order_rows(const RtGather *p, const void *index, int64_t first, int64_t row,
                          int64_t row_end, int64_t begin, Segments *s)
{
    int64_t longest = 0;

    for (int64_t r = row; r < row_end; r++) {
        int64_t count = s->end[r];
        s->end[r] = begin;
        longest = rt_most(longest, count);
        begin += count;
    }
    for (int64_t j = 0; j < p->index; j++) {
        int64_t at = rt_index(p, index, first + j);
        if (at >= row && at < row_end)
            s->order[s->end[at]++] = j;
    }
    return longest;
}

// Each thread reads the whole index and sorts the part for its share of the table's rows.
static void sort_index(Rt *rt, const RtGather *p, const void *index, int64_t batch, Segments *s)
{
    int64_t first = batch * p->index, longest = 0, total[RT_MAX_THREADS];

#pragma omp parallel num_threads(rt_team(rt, p->n + p->index)) reduction(max : longest)
    {
        int64_t i = omp_get_thread_num(), n = omp_get_num_threads(), begin = 0;
        int64_t row = rt_partition(p->n, i, n), row_end = rt_partition(p->n, i + 1, n);

        total[i] = count_rows(p, index, first, row, row_end, s);
#pragma omp barrier
        for (int64_t k = 0; k < i; k++)
            begin += total[k];
        longest = order_rows(p, index, first, row, row_end, begin, s);
    }
    s->longest = longest;
}

// The first row of part `i` of `n`. Parts have about the same number of table rows plus added rows.
static int64_t cut(const RtGather *p, const Segments *s, int64_t i, int64_t n)
{
    int64_t low = 0, high = p->n, share = rt_partition(begin_of(s, p->n) + p->n, i, n);

    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (begin_of(s, middle) + middle < share)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// to = a op b, elementwise, for `bytes` of one type.
typedef void Join(void *to, const void *a, const void *b, int64_t bytes);
// Puts rows into rows [row, row_end) of one slice's table; the index begins at element `first`.
typedef void Put(const RtGather *p, const void *index, int64_t first, int64_t row, int64_t row_end,
                 void *table, const void *rows);

#define JOIN(T, op, name, value)                                                                   \
    static void join_##op##_##name(void *to, const void *left, const void *right, int64_t bytes)   \
    {                                                                                              \
        RT_SIMD                                                                                    \
        for (int64_t i = 0; i < bytes / (int64_t)sizeof(T); i++) {                                 \
            T a = ((const T *)left)[i], b = ((const T *)right)[i];                                 \
            ((T *)to)[i] = (T)(value);                                                             \
        }                                                                                          \
    }                                                                                              \
    static void put_##op##_##name(const RtGather *p, const void *index, int64_t first,             \
                                  int64_t row, int64_t row_end, void *table, const void *rows)     \
    {                                                                                              \
        for (int64_t j = 0; j < p->index; j++) {                                                   \
            int64_t at = rt_index(p, index, first + j);                                            \
            if (at < row || at >= row_end)                                                         \
                continue;                                                                          \
            for (int64_t i = 0; i < p->inner; i++) {                                               \
                T a = ((T *)table)[at * p->inner + i];                                             \
                T b = ((const T *)rows)[j * p->inner + i];                                         \
                ((T *)table)[at * p->inner + i] = (T)(value);                                      \
            }                                                                                      \
        }                                                                                          \
    }
#define JOIN_INT(type, T, name)                                                                    \
    JOIN(T, sum, name, (uint64_t)a + (uint64_t)b)                                                  \
    JOIN(T, mul, name, (uint64_t)(a) * (uint64_t)(b))                                              \
    JOIN(T, max, name, a > b ? a : b)                                                              \
    JOIN(T, min, name, a < b ? a : b)
#define JOIN_FLOAT(T, name, most, least)                                                           \
    JOIN(T, sum, name, a + b)                                                                      \
    JOIN(T, mul, name, (a) * (b))                                                                  \
    JOIN(T, max, name, most(b, a))                                                                 \
    JOIN(T, min, name, least(b, a))
#define JOIN_LAST(type, T, name) JOIN(T, last, name, ((void)a, b))
JOIN_FLOAT(float, f32, rt_maxf, rt_minf)
JOIN_FLOAT(double, f64, rt_max, rt_min)
RT_EACH_INT(JOIN_INT)
RT_EACH_NUMBER(JOIN_LAST)

typedef struct Combine {
    Join *join;
    Put *put;
} Combine;

static Combine combine_of(RtType t, RtReduceOp op)
{
    switch (rt_plain(t)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        return (Combine[]){[RT_SUM] = {join_sum_##name, put_sum_##name},                           \
                           [RT_MUL] = {join_mul_##name, put_mul_##name},                           \
                           [RT_MAX] = {join_max_##name, put_max_##name},                           \
                           [RT_MIN] = {join_min_##name, put_min_##name},                           \
                           [RT_LAST] = {join_last_##name, put_last_##name}}[op];
        RT_EACH_NUMBER(CASE)
    default:
        abort();
    }
}

// The rows that a thread puts into the table, in their order.
typedef struct Rows {
    Join *join;
    bool is_last;  // the last row alone counts
    const char *row;
    int64_t bytes;  // of a row
    const int64_t *order;
    int64_t last;
    int64_t first;     // first byte of a row that this thread reads
    bool is_streamed;  // the results are stored past the caches
} Rows;

// A strip of the k-th row. At the row's first strip it prefetches the row RT_PREFETCH_ROWS later.
static const char *strip_at(const Rows *x, int64_t k, int64_t at, int64_t bytes)
{
    if (at == x->first && k + RT_PREFETCH_ROWS < x->last)
        rt_prefetch(x->row + x->order[k + RT_PREFETCH_ROWS] * x->bytes + at,
                    rt_least(bytes, RT_PREFETCH_BYTES));
    return x->row + x->order[k] * x->bytes + at;
}

// Computes a strip of a row of the table, at byte `at`: `onto` (NULL: zeros, which only sums have)
// and rows [k, end). It is made in a buffer if it is streamed, since a streaming store writes once.
static void make_strip(const Rows *x, char *to, const char *onto, int64_t k, int64_t end,
                       int64_t at, int64_t bytes)
{
    char made[STRIP_BYTES], *y = x->is_streamed ? made : to;

    if (x->is_last && k < end) {
        onto = NULL;
        k = end - 1;
    }
    const char *first = onto || k == end ? onto : strip_at(x, k++, at, bytes);
    if (k == end) {
        rt_store(to, first, bytes, x->is_streamed);
        return;
    }
    x->join(y, first, strip_at(x, k, at, bytes), bytes);
    for (int64_t i = k + 1; i < end; i++)
        x->join(y, y, strip_at(x, i, at, bytes), bytes);
    if (x->is_streamed)
        rt_stream_store(to, made, bytes);
}

// A thread's part of a slice: a range of table rows and a range of bytes in each.
typedef struct Part {
    int64_t row, row_end, byte, byte_end;
} Part;

static void make_part(const Segments *s, const Rows *x, const Part *a, char *table,
                      const char *onto)
{
    for (int64_t r = a->row; r < a->row_end; r++) {
        if (table == onto && begin_of(s, r) == s->end[r])
            continue;
        for (int64_t at = a->byte; at < a->byte_end; at += STRIP_BYTES)
            make_strip(x, table + r * x->bytes + at, onto ? onto + r * x->bytes + at : NULL,
                       begin_of(s, r), s->end[r], at, rt_least(STRIP_BYTES, a->byte_end - at));
    }
}

// Makes all slices of one batch. Whole rows use memory best, but if a segment is longer than a
// thread's share, rows are split by columns as far as possible.
static void make_batch(Rt *rt, const RtGather *p, const Segments *s, char *table, const char *rows,
                       const char *onto)
{
    int64_t bytes = rt_type_bytes(p->type), team = rt_team(rt, (p->n + p->index) * p->inner);
    bool is_even = s->longest * team <= begin_of(s, p->n) + p->n;
    int64_t across = is_even ? 1 : rt_most(1, rt_least(team, p->inner / COLUMNS));
    int64_t down = rt_ceil_div(team, across), parts = across * down, row = p->inner * bytes;
    bool is_streamed = across == 1 && p->outer * p->n * row > RT_STREAM_BYTES && table != onto;

#pragma omp parallel for num_threads((int)team) schedule(static)
    for (int64_t i = 0; i < p->outer * parts; i++) {
        int64_t o = i / parts, y = i % parts / across, x = i % across;
        Part a = {cut(p, s, y, down), cut(p, s, y + 1, down),
                  rt_partition(p->inner, x, across) * bytes,
                  rt_partition(p->inner, x + 1, across) * bytes};
        Rows put = {.join = combine_of(p->type, p->op).join,
                    .is_last = p->op == RT_LAST,
                    .row = rows + o * p->index * row,
                    .bytes = row,
                    .order = s->order,
                    .last = begin_of(s, a.row_end),
                    .first = a.byte,
                    .is_streamed = is_streamed};
        make_part(s, &put, &a, table + o * p->n * row, onto ? onto + o * p->n * row : NULL);
        rt_stream_fence();
    }
}

// Makes the table without sorting an index. A part is some rows of one slice.
static void make_slices(Rt *rt, const RtGather *p, char *table, const char *rows, const void *index,
                        const char *onto)
{
    int64_t bytes = rt_type_bytes(p->type) * p->inner, slices = p->batch * p->outer;
    int64_t team = rt_team(rt, slices * (p->n + p->index) * p->inner);
    int64_t parts = slices ? rt_ceil_div(team, slices) : 0;
    Put *put = combine_of(p->type, p->op).put;

#pragma omp parallel for num_threads((int)team) schedule(static)
    for (int64_t i = 0; i < slices * parts; i++) {
        int64_t slice = i / parts, first = slice / p->outer * p->index;
        int64_t row = rt_partition(p->n, i % parts, parts);
        int64_t row_end = rt_partition(p->n, i % parts + 1, parts);
        int64_t at = (slice * p->n + row) * bytes;

        if (table != onto)
            rt_store(table + at, onto ? onto + at : NULL, (row_end - row) * bytes, false);
        put(p, index, first, row, row_end, table + slice * p->n * bytes,
            rows + slice * p->index * bytes);
    }
}

void rt_scatter(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index,
                const void *onto)
{
    int64_t slice = p->outer * rt_type_bytes(p->type) * p->inner;
    Segments s = {.end = (int64_t *)rt->workspace, .order = (int64_t *)rt->workspace + p->n};
    const char *on = onto;

    if (!rt_scatter_workspace(p)) {
        make_slices(rt, p, table, rows, index, onto);
        return;
    }
    for (int64_t b = 0; b < p->batch; b++) {
        sort_index(rt, p, index, b, &s);
        make_batch(rt, p, &s, (char *)table + b * p->n * slice,
                   (const char *)rows + b * p->index * slice, on ? on + b * p->n * slice : NULL);
    }
}
