// Positions of tensors with windows, for kernels.
#ifndef SHARDCC_RT_CUDA_WINDOW_CUH
#define SHARDCC_RT_CUDA_WINDOW_CUH

#include "runtime/cuda/cuda.cuh"
#include "runtime/cuda/window.h"

// A sample, a channel and three coordinates.
struct RtPoint {
    int32_t sample, channel, at[3];
};

// Element i of a dense tensor with these dims, in either layout.
__device__ __forceinline__ RtPoint rt_point(int64_t i, const int32_t *dim, int32_t channels,
                                            bool is_last)
{
    RtPoint p = {};
    RtDivided d = {i, 0};

    if (is_last) {
        d = rt_divide(i, channels);
        p.channel = (int32_t)d.rest;
    }
    for (int k = 2; k >= 0; k--) {
        d = rt_divide(d.quotient, dim[k]);
        p.at[k] = (int32_t)d.rest;
    }
    if (!is_last) {
        d = rt_divide(d.quotient, channels);
        p.channel = (int32_t)d.rest;
    }
    p.sample = (int32_t)d.quotient;
    return p;
}

// The coordinate of x under tap `tap` of the window at coordinate `at` of y, along one dim.
__device__ __forceinline__ int32_t rt_under(const RtCudaWindow &w, int dim, int32_t at, int32_t tap)
{
    return at * w.stride[dim] + tap * w.dilation[dim] - w.low[dim];
}

// The coordinate of y whose window has tap `tap` at coordinate `at` of x; negative if there is
// none.
__device__ __forceinline__ int32_t rt_over(const RtCudaWindow &w, int dim, int32_t at, int32_t tap)
{
    int32_t y = at + w.low[dim] - tap * w.dilation[dim];

    return y % w.stride[dim] == 0 && y / w.stride[dim] < w.y_dim[dim] ? y / w.stride[dim] : -1;
}

__device__ __forceinline__ bool rt_is_inside(int32_t at, int32_t dim)
{
    return at >= 0 && at < dim;
}

#endif
