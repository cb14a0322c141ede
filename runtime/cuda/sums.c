// Launches the kernels of fused groups that also sum columns.
#include "runtime/cuda/cuda.h"
#include "runtime/rt_cuda.h"

void rt_launch_sums(Rt *rt, const char *kernel, const RtSums *q, float *const *y,
                    const void *operands, size_t bytes)
{
    int64_t chunks = rt_cuda_sums_chunks(q), tiles = rt_cuda_sums_tiles(q);
    char *partial = rt->workspace;
    void *args[RT_CUDA_MAX_PARAMETERS + 1] = {&partial};

    rt_cuda_point_to(args + 1, operands, bytes);
    rt_cuda_launch(rt, kernel, (RtCudaGrid){q->outer * chunks * tiles, 1, 1}, RT_SUM_THREADS, args);
    for (int64_t i = 0; i < q->n; i++)
        rt_cuda_launch(rt, "rt_cuda_add_sums",
                       (RtCudaGrid){rt_ceil_div(q->outer * q->width, RT_SUM_THREADS), 1, 1},
                       RT_SUM_THREADS,
                       RT_CUDA_ARGS((void *)q, &chunks, &i, &partial, (void *)&y[i]));
}
