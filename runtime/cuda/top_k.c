// The k largest elements along a dim.
#include "runtime/cuda/cuda.h"

void rt_top_k(Rt *rt, const RtAlong *p, void *values, void *indices, const void *x)
{
    rt_cuda_launch_typed(rt, "rt_cuda_top_k", p->type, (RtCudaGrid){p->outer * p->inner, 1, 1}, 256,
                         RT_CUDA_ARGS((void *)p, &values, &indices, &x));
}
