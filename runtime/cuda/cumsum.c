// Cumulative sums along a dim.
#include "runtime/cuda/cuda.h"

enum { BLOCK = 256 };

void rt_cumsum(Rt *rt, const RtAlong *p, void *y, const void *x)
{
    int64_t lines = p->outer * p->inner;
    void **args = RT_CUDA_ARGS((void *)p, &y, &x);

    if (p->n == 0)
        return;
    if (rt_cuda_has_rows(p))
        rt_cuda_launch_typed(rt, "rt_cuda_cumsum_row", p->type, (RtCudaGrid){lines, 1, 1}, BLOCK,
                             args);
    else
        rt_cuda_launch_typed(rt, "rt_cuda_cumsum_column", p->type,
                             (RtCudaGrid){rt_ceil_div(lines, BLOCK), 1, 1}, BLOCK, args);
}
