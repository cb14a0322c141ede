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

void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index)
{
    int64_t bytes = p->inner * rt_type_bytes(p->type), rows = p->batch * p->outer * p->index;
    bool is_streamed = rows * bytes > RT_STREAM_BYTES;

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
