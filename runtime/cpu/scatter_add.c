// Adds rows into a table by index, in the order of the index: no element of the table is written by
// two threads, which share the slices of the table, its columns or its rows, whichever there are
// enough of.
#include <string.h>

#include "runtime/cpu/internal.h"

// The part of the table that a thread writes: slices of [batch, outer], table rows, columns.
typedef struct Part {
    int64_t slice, slice_end, row, row_end, column, column_end;
} Part;

static Part share_of(const RtGather *p, int rank, int team)
{
    int64_t slices = p->batch * p->outer;
    Part s = {0, slices, 0, p->n, 0, p->inner};

    if (slices >= 4 * team) {
        s.slice = rt_share(slices, rank, team);
        s.slice_end = rt_share(slices, rank + 1, team);
    } else if (p->inner >= 16 * team) {
        s.column = rt_share(p->inner, rank, team);
        s.column_end = rt_share(p->inner, rank + 1, team);
    } else {
        s.row = rt_share(p->n, rank, team);
        s.row_end = rt_share(p->n, rank + 1, team);
    }
    return s;
}

// T elements, added in S.
#define ADD(T, S, name)                                                                            \
    static void add_##name(const RtGather *p, const Part *s, T *table, const T *rows,              \
                           const void *index)                                                      \
    {                                                                                              \
        size_t bytes = sizeof(T) * (size_t)(s->column_end - s->column);                            \
                                                                                                   \
        for (int64_t i = s->slice; i < s->slice_end; i++) {                                        \
            for (int64_t r = s->row; r < s->row_end; r++)                                          \
                memset(table + (i * p->n + r) * p->inner + s->column, 0, bytes);                   \
            for (int64_t j = 0; j < p->index; j++) {                                               \
                int64_t at = rt_index(p, index, i / p->outer * p->index + j);                      \
                                                                                                   \
                if (at < s->row || at >= s->row_end)                                               \
                    continue;                                                                      \
                T *to = table + (i * p->n + at) * p->inner;                                        \
                const T *from = rows + (i * p->index + j) * p->inner;                              \
                for (int64_t c = s->column; c < s->column_end; c++)                                \
                    to[c] = (T)((S)to[c] + (S)from[c]);                                            \
            }                                                                                      \
        }                                                                                          \
    }
ADD(float, float, f32)
ADD(double, double, f64)
#define INT_ADD(type, T, name) ADD(T, uint64_t, name)  // whole sums wrap
RT_EACH_INT(INT_ADD)

void rt_scatter_add(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index)
{
    int64_t work = p->batch * p->outer * (p->n + p->index) * p->inner;

#pragma omp parallel num_threads(rt_team(rt, work))
    {
        Part s = share_of(p, omp_get_thread_num(), omp_get_num_threads());

        switch (rt_plain(p->type)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        add_##name(p, &s, table, rows, index);                                                     \
        break;
            RT_EACH_NUMBER(CASE)
        default:
            abort();
        }
    }
}
