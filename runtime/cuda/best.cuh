// The largest elements along a dim: of equals the first, NaN counts as the largest.
#ifndef SHARDCC_RT_CUDA_BEST_CUH
#define SHARDCC_RT_CUDA_BEST_CUH

#include "runtime/cuda/cuda.cuh"

// An element and its index; -1: none.
template <class T> struct RtBest {
    T value;
    int32_t index;
};

// Does a come before b in falling order?
template <class T>
__device__ __forceinline__ bool rt_is_before(const RtBest<T> &a, const RtBest<T> &b)
{
    bool odd_a = a.value != a.value, odd_b = b.value != b.value;

    if (a.index < 0 || b.index < 0)
        return b.index < 0 && a.index >= 0;
    if (a.value == b.value || (odd_a && odd_b))
        return a.index < b.index;
    return odd_a || (!odd_b && a.value > b.value);
}

template <class T> __device__ __forceinline__ RtBest<T> rt_warp_best(RtBest<T> b)
{
    for (int k = RT_WARP / 2; k; k /= 2) {
        RtBest<T> other = {rt_swap_lanes(b.value, k), rt_swap_lanes(b.index, k)};
        b = rt_is_before(other, b) ? other : b;
    }
    return b;
}

// The first in falling order of those of all threads of a block of whole warps.
template <class T>
__device__ __forceinline__ RtBest<T> rt_block_best(RtBest<T> b, Shared<T[RT_WARP]> &value,
                                                   Shared<int32_t[RT_WARP]> &index)
{
    const int lane = (int)threadIdx.x % RT_WARP, warps = (int)blockDim.x / RT_WARP;

    b = rt_warp_best(b);
    __syncthreads();  // the results of the call before have been read
    if (lane == 0) {
        value[threadIdx.x / RT_WARP] = b.value;
        index[threadIdx.x / RT_WARP] = b.index;
    }
    __syncthreads();
    b.index = -1;
    if (lane < warps)
        b = {(T)value[lane], (int32_t)index[lane]};
    return rt_warp_best(b);
}

#endif
