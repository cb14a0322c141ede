// The index of the largest element along a dim: the first of equals; NaN counts as the largest.
#include "runtime/cuda/best.cuh"

// A block for a line.
template <class T>
__device__ __forceinline__ void rt_arg_max_row(const RtAlong &p, int64_t *y, const T *x)
{
    __shared__ Shared<T[RT_WARP]> value;
    __shared__ Shared<int32_t[RT_WARP]> index;
    RtDivided line = rt_divide(blockIdx.x, p.inner);
    const T *from = x + line.quotient * p.n * p.inner + line.rest;
    RtBest<T> best = {0, -1};

    for (int32_t i = (int32_t)threadIdx.x; i < p.n; i += (int32_t)blockDim.x) {
        RtBest<T> v = {from[i * p.inner], i};
        best = rt_is_before(v, best) ? v : best;
    }
    best = rt_block_best(best, value, index);
    if (threadIdx.x == 0)
        y[blockIdx.x] = best.index;
}

// A thread for a line; neighbouring threads have neighbouring lines.
template <class T>
__device__ __forceinline__ void rt_arg_max_column(const RtAlong &p, int64_t *y, const T *x)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    RtDivided line = rt_divide(i, p.inner);
    const T *from = x + line.quotient * p.n * p.inner + line.rest;

    if (i >= p.outer * p.inner)
        return;
    RtBest<T> best = {from[0], 0};
    for (int32_t k = 1; k < p.n; k++) {
        RtBest<T> v = {from[k * p.inner], k};
        best = rt_is_before(v, best) ? v : best;
    }
    y[i] = best.index;
}

#define RT_ARG_MAX(T, name)                                                                        \
    extern "C" __global__ void rt_cuda_arg_max_row_##name(RtAlong p, int64_t *y, const T *x)       \
    {                                                                                              \
        rt_arg_max_row(p, y, x);                                                                   \
    }                                                                                              \
    RT_ENTRY(rt_cuda_arg_max_row_##name);                                                          \
    extern "C" __global__ void rt_cuda_arg_max_column_##name(RtAlong p, int64_t *y, const T *x)    \
    {                                                                                              \
        rt_arg_max_column(p, y, x);                                                                \
    }                                                                                              \
    RT_ENTRY(rt_cuda_arg_max_column_##name);
RT_CUDA_EACH_TYPE(RT_ARG_MAX)
