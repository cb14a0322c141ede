// Gathers rows of a table by index, in units of as many bytes as rows and addresses allow.
#include <stdio.h>

#include "runtime/cuda/cuda.h"

void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index)
{
    int64_t row = p->inner * rt_type_bytes(p->type), rows = p->batch * p->outer * p->index;
    uintptr_t all = (uintptr_t)y | (uintptr_t)table | (uintptr_t)row;
    RtGather q = *p;
    char name[32];
    int unit = 16;

    if (row == 0)
        return;
    while (all % (uintptr_t)unit)
        unit /= 2;
    q.inner = row / unit;
    snprintf(name, sizeof name, "rt_cuda_gather_%d", unit);
    rt_cuda_launch(rt, name, (RtCudaGrid){rt_ceil_div(rows * q.inner, 256), 1, 1}, 256,
                   RT_CUDA_ARGS(&q, &y, &table, &index));
}
