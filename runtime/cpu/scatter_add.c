// Adds rows into a table by index. Each row of the table is the sum of its segment, the rows that
// are meant for it in the order of the index: the index is sorted by counting, and the threads
// share rows and columns of the table, so no bit depends on their number. Where there are many
// slices [batch, outer] the threads share those, and nothing is sorted.
#include <string.h>

#include "runtime/cpu/internal.h"

enum { COLUMNS = 64 };  // of a part, at least

// The index of one batch by rows of the table: the segment of row r ends at end[r] of `order` and
// begins where the one before ends.
typedef struct Segments {
    int64_t *end, *order;
} Segments;

static int64_t begin_of(const Segments *s, int64_t row) { return row ? s->end[row - 1] : 0; }

static void sort_index(const RtGather *p, const void *index, int64_t batch, const Segments *s)
{
    int64_t first = batch * p->index, total = 0;

    memset(s->end, 0, sizeof *s->end * (size_t)p->n);
    for (int64_t j = 0; j < p->index; j++) {
        int64_t at = rt_index(p, index, first + j);
        if (at >= 0)
            s->end[at]++;
    }
    for (int64_t r = 0; r < p->n; r++) {
        int64_t count = s->end[r];
        s->end[r] = total;
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

// What a thread makes of a slice: table rows, columns.
typedef struct Part {
    int64_t row, row_end, column, column_end;
} Part;

// T elements, added in S.
#define ADD(T, S, name)                                                                            \
    static void add_row_##name(T *to, const T *x, int64_t n)                                       \
    {                                                                                              \
        RT_SIMD                                                                                    \
        for (int64_t c = 0; c < n; c++)                                                            \
            to[c] = (T)((S)to[c] + (S)x[c]);                                                       \
    }                                                                                              \
                                                                                                   \
    static void add_segments_##name(const RtGather *p, const Segments *s, const Part *a,           \
                                    void *table, const void *rows)                                 \
    {                                                                                              \
        int64_t width = a->column_end - a->column, last = begin_of(s, a->row_end);                 \
        size_t bytes = sizeof(T) * (size_t)width;                                                  \
        const T *from = (const T *)rows + a->column;                                               \
                                                                                                   \
        for (int64_t r = a->row, k = begin_of(s, r); r < a->row_end; r++) {                        \
            T *to = (T *)table + r * p->inner + a->column;                                         \
                                                                                                   \
            if (k == s->end[r])                                                                    \
                memset(to, 0, bytes);                                                              \
            for (bool is_first = true; k < s->end[r]; k++, is_first = false) {                     \
                if (k + RT_AHEAD < last)                                                           \
                    rt_prefetch(from + s->order[k + RT_AHEAD] * p->inner, (int64_t)bytes);         \
                if (is_first)                                                                      \
                    memcpy(to, from + s->order[k] * p->inner, bytes);                              \
                else                                                                               \
                    add_row_##name(to, from + s->order[k] * p->inner, width);                      \
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
            if (at >= 0)                                                                           \
                add_row_##name((T *)table + at * p->inner, (const T *)rows + j * p->inner,         \
                               p->inner);                                                          \
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

// All slices of one batch, cut across the columns first, as far as that goes: segments may have any
// length.
static void add_batch(Rt *rt, const RtGather *p, const Segments *s, char *table, const char *rows)
{
    int64_t bytes = rt_type_bytes(p->type), team = rt_team(rt, (p->n + p->index) * p->inner);
    int64_t across = rt_most(1, rt_least(team, p->inner / COLUMNS));
    int64_t down = rt_ceil_div(team, across), parts = across * down;

#pragma omp parallel for num_threads((int)team) schedule(static)
    for (int64_t i = 0; i < p->outer * parts; i++) {
        int64_t o = i / parts, y = i % parts / across, x = i % across;
        Part a = {cut(p, s, y, down), cut(p, s, y + 1, down), rt_share(p->inner, x, across),
                  rt_share(p->inner, x + 1, across)};
        adder_of(p->type).segments(p, s, &a, table + o * p->n * p->inner * bytes,
                                   rows + o * p->index * p->inner * bytes);
    }
}

void rt_scatter_add(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index)
{
    int64_t slices = p->batch * p->outer, bytes = rt_type_bytes(p->type) * p->inner;
    Segments s = {(int64_t *)rt->workspace, (int64_t *)rt->workspace + p->n};

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
