// Adds the partial sums of a fused group's columns, in the order of the chunks.
#include "runtime/cuda/cuda.cuh"

extern "C" __global__ void rt_cuda_add_sums(RtSums q, int64_t chunks, int64_t number,
                                            const double *partial, float *y)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (at >= q.outer * q.width)
        return;
    RtDivided i = rt_divide(at, q.width);
    int64_t step = q.n * q.width;
    const double *from = partial + i.quotient * chunks * step + number * q.width + i.rest;
    double total = 0;
#pragma unroll 4
    for (int64_t c = 0; c < chunks; c++)
        total += from[c * step];
    y[at] = (float)total;
}
RT_ENTRY(rt_cuda_add_sums);
