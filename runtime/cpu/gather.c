// Rows of a table by index; what is outside the table's piece is zero.
#include <string.h>

#include "runtime/cpu/internal.h"

// The row of all tables that row `r` of the result is; -1: of none.
static int64_t row_of(const RtGather *p, const void *index, int64_t r)
{
    int64_t slice = r / p->index, i = r % p->index;
    int64_t at = rt_index(p, index, slice / p->outer * p->index + i);

    return at < 0 ? -1 : slice * p->n + at;
}

void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index)
{
    int64_t bytes = p->inner * rt_type_bytes(p->type), rows = p->batch * p->outer * p->index;

#pragma omp parallel for num_threads(rt_team(rt, rows *(p->inner + 8))) schedule(static)
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = row_of(p, index, r),
                soon = r + RT_AHEAD < rows ? row_of(p, index, r + RT_AHEAD) : -1;
        char *to = (char *)y + r * bytes;

        if (soon >= 0)
            rt_prefetch((const char *)table + soon * bytes, bytes);
        if (at >= 0)
            memcpy(to, (const char *)table + at * bytes, (size_t)bytes);
        else
            memset(to, 0, (size_t)bytes);
    }
}
