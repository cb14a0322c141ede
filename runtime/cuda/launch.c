// Launches the kernels of fused groups.
#include "runtime/rt_cuda.h"

#include "runtime/cuda/cuda.h"

void rt_cuda_point_to(void **args, const void *operands, size_t bytes)
{
    const int64_t *word = operands;

    for (size_t i = 0; i < bytes / sizeof *word; i++)
        args[i] = (void *)&word[i];
}

void rt_launch(Rt *rt, const char *kernel, int64_t blocks, int threads, const void *operands,
               size_t bytes)
{
    void *args[RT_CUDA_MAX_PARAMETERS];

    rt_cuda_point_to(args, operands, bytes);
    rt_cuda_launch(rt, kernel, (RtCudaGrid){blocks, 1, 1}, threads, args);
}
