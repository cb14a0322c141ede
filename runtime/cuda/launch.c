// Launches the kernels of fused groups.
#include "runtime/rt_cuda.h"

#include "runtime/cuda/cuda.h"

void rt_launch(Rt *rt, const char *kernel, int64_t blocks, int threads, char *const *p, int n)
{
    void *args[RT_CUDA_MAX_PARAMETERS];

    for (int i = 0; i < n; i++)
        args[i] = (void *)&p[i];
    rt_cuda_launch(rt, kernel, (RtCudaGrid){blocks, 1, 1}, threads, args);
}
