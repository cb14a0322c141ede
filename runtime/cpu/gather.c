// Gathers rows of a table by index; rows outside of the table's shard are zero.
#include "runtime/cpu/internal.h"

// The row of the table, counted over all tables, that row `r` of the result is; -1: none.
static int64_t row_of(const RtGather *p, const void *index, int64_t r)
{
    if (p->batch * p->outer == 1)  // avoids divisions, which take longer than copying small rows
        return rt_index(p, index, r);
    int64_t slice = r / p->index, i = r % p->index;
    int64_t at = rt_index(p, index, slice / p->outer * p->index + i);

    return at < 0 ? -1 : slice * p->n + at;
}

// Rows of one element of `bits` bits: elements [first, last) of one slice's index.
#define TAKE(bits)                                                                                 \
    static void take_##bits(const RtGather *p, void *y, const void *table, const void *index,      \
                            int64_t slice, int64_t first, int64_t last)                            \
    {                                                                                              \
        const uint##bits##_t *from = (const uint##bits##_t *)table + slice * p->n;                 \
        uint##bits##_t *to = (uint##bits##_t *)y + slice * p->index;                               \
        int64_t at = slice / p->outer * p->index;                                                  \
                                                                                                   \
        for (int64_t i = first; i < last; i++) {                                                   \
            int64_t row = rt_index(p, index, at + i);                                              \
            to[i] = row < 0 ? 0 : from[row];                                                       \
        }                                                                                          \
    }
TAKE(8)
TAKE(16)
TAKE(32)
TAKE(64)

// Rows of one element, in parts that lie in one slice each.
static void gather_elements(Rt *rt, const RtGather *p, void *y, const void *table,
                            const void *index)
{
    int bytes = rt_type_bytes(p->type);
    void (*take)(const RtGather *, void *, const void *, const void *, int64_t, int64_t, int64_t) =
        bytes == 1   ? take_8
        : bytes == 2 ? take_16
        : bytes == 4 ? take_32
                     : take_64;
    int64_t slices = p->batch * p->outer, team = rt_team(rt, 4 * slices * p->index);
    int64_t parts = slices ? rt_ceil_div(team, slices) : 0;

#pragma omp parallel for num_threads((int)team) schedule(static)
    for (int64_t i = 0; i < slices * parts; i++)
        take(p, y, table, index, i / parts, rt_partition(p->index, i % parts, parts),
             rt_partition(p->index, i % parts + 1, parts));
}

void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index)
{
    int64_t bytes = p->inner * rt_type_bytes(p->type), rows = p->batch * p->outer * p->index;
    bool is_streamed = rows * bytes > RT_STREAM_BYTES;

    if (p->inner == 1) {
        gather_elements(rt, p, y, table, index);
        return;
    }
#pragma omp parallel num_threads(rt_team(rt, rows *(p->inner + 8)))
    {
#pragma omp for schedule(static) nowait
        for (int64_t r = 0; r < rows; r++) {
            int64_t at = row_of(p, index, r),
                    prefetched =
                        r + RT_PREFETCH_ROWS < rows ? row_of(p, index, r + RT_PREFETCH_ROWS) : -1;
            if (prefetched >= 0)
                rt_prefetch((const char *)table + prefetched * bytes,
                            rt_least(bytes, RT_PREFETCH_BYTES));
            rt_store((char *)y + r * bytes, at < 0 ? NULL : (const char *)table + at * bytes, bytes,
                     is_streamed);
        }
        rt_stream_fence();
    }
}
