// Rows of a table by index; what is outside the table's piece is zero.
#include <string.h>

#include "runtime/cpu/internal.h"

void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index)
{
    size_t bytes = (size_t)p->inner * (size_t)rt_type_bytes(p->type);
    int64_t rows = p->batch * p->outer * p->index;

#pragma omp parallel for num_threads(rt_team(rt, rows *(p->inner + 8))) schedule(static)
    for (int64_t r = 0; r < rows; r++) {
        int64_t slice = r / p->index, i = r % p->index;
        int64_t at = rt_index(p, index, slice / p->outer * p->index + i);
        char *to = (char *)y + (size_t)r * bytes;

        if (at >= 0)
            memcpy(to, (const char *)table + (size_t)(slice * p->n + at) * bytes, bytes);
        else
            memset(to, 0, bytes);
    }
}
