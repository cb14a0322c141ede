// Running products along a dim.
#include "runtime/cuda/cuda.h"

enum { BLOCK = 256 };

void rt_running_product(Rt *rt, const RtAlong *p, void *y, const void *x)
{
    int64_t lines = p->outer * p->inner;

    rt_cuda_launch_typed(rt, "rt_cuda_running_product", p->type,
                         (RtCudaGrid){rt_ceil_div(lines, BLOCK), 1, 1}, BLOCK,
                         RT_CUDA_ARGS((void *)p, &y, &x));
}
