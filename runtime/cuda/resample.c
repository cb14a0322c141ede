// Resamples along one dim. A kernel writes the positions' taps to the workspace, another one makes
// the results of them.
#include "runtime/cuda/cuda.h"
#include "runtime/rt_resample.h"

enum { BLOCK = 256 };

void rt_resample(Rt *rt, const RtResample *p, void *y, const void *x)
{
    int64_t results = p->outer * (p->transposed ? p->n : p->size) * p->inner;
    RtCudaResample q = {.p = *p, .most = rt_resample_most(p)};
    void *taps = rt->workspace, *weight = rt->workspace + 8 * p->size;

    rt_cuda_launch_typed(rt, "rt_cuda_resample_taps", p->type,
                         (RtCudaGrid){results ? rt_ceil_div(p->size, BLOCK) : 0, 1, 1}, BLOCK,
                         RT_CUDA_ARGS(&q, &taps, &weight));
    rt_cuda_launch_typed(rt, p->transposed ? "rt_cuda_resample_transposed" : "rt_cuda_resample",
                         p->type, (RtCudaGrid){rt_ceil_div(results, BLOCK), 1, 1}, BLOCK,
                         RT_CUDA_ARGS(&q, &y, &x, &taps, &weight));
}
