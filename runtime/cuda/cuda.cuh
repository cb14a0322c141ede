// Shared by the kernels of GPUs: offsets under strides, sums over a warp and a block in fixed
// trees.
//
// Kernels are written in CUDA's own words, and the tests compile them for the CPU too
// (tests/cuda/gpu.h). So they use only what that header has: Shared<float[32]> for arrays in shared
// memory, rt_load and rt_store for vectors, RT_CALLED for functions that aren't inlined, and
// RT_ENTRY after each kernel.
#ifndef SHARDCC_RT_CUDA_CUH
#define SHARDCC_RT_CUDA_CUH

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define RT_CALLED __noinline__
#define RT_ENTRY(name) static_assert(sizeof(&name) > 0, "a kernel")
template <class T> using Shared = T;

// A vector of V, of the elements of `p` from `i` on.
template <class V, class T> __device__ __forceinline__ V rt_load(const T *p, int64_t i = 0)
{
    return *reinterpret_cast<const V *>(p + i);
}
template <class V, class T> __device__ __forceinline__ void rt_store(T *p, int64_t i, V v)
{
    *reinterpret_cast<V *>(p + i) = v;
}
// Elements i to i + 3 of a row in shared memory.
template <int N> __device__ __forceinline__ float4 rt_load4(float (&row)[N], int i)
{
    return *reinterpret_cast<const float4 *>(row + i);
}
#endif

#include "runtime/cuda/params.h"
#include "runtime/rt_half.h"

enum { RT_WARP = 32, RT_ALL_LANES = -1 };

// An element of memory as the number that kernels compute with: halves widen to f32.
__device__ __forceinline__ float rt_value(RtF16 x) { return rt_from_f16(x); }
__device__ __forceinline__ float rt_value(RtBf16 x) { return rt_from_bf16(x); }
template <class T> __device__ __forceinline__ T rt_value(T x) { return x; }
template <class T> using RtValue = decltype(rt_value(T()));

// Stores a number as an element: to the nearest half, ties to even.
__device__ __forceinline__ void rt_put(RtF16 &y, float x) { y = rt_to_f16(x); }
__device__ __forceinline__ void rt_put(RtBf16 &y, float x) { y = rt_to_bf16(x); }
template <class T> __device__ __forceinline__ void rt_put(T &y, T x) { y = x; }

// Stores element i of a result of T or, where it `is_f32`, of f32.
template <class T>
__device__ __forceinline__ void rt_put_result(T *y, int64_t i, RtValue<T> x, bool is_f32)
{
    constexpr bool is_half = sizeof(RtValue<T>) > sizeof(T);

    if (is_half && is_f32)
        reinterpret_cast<float *>(y)[i] = (float)x;
    else
        rt_put(y[i], x);
}

// Sums; those of whole numbers wrap.
__device__ __forceinline__ float rt_plus(float a, float b) { return a + b; }
__device__ __forceinline__ double rt_plus(double a, double b) { return a + b; }
template <class T> __device__ __forceinline__ T rt_plus(T a, T b)
{
    return (T)((uint64_t)a + (uint64_t)b);
}

// The larger of two, or for RT_MIN the smaller. A NaN is larger, and smaller, than all else.
template <class T> __device__ __forceinline__ T rt_extreme(RtReduceOp op, T a, T b)
{
    bool is_first = op == RT_MAX ? a > b : a < b;

    return a != a || (is_first && b == b) ? a : b;
}

// The quotient and remainder, by 32-bit division where that is enough. The other one is a call, as
// it takes a hundred instructions.
struct RtDivided {
    int64_t quotient, rest;
};
static __device__ RT_CALLED RtDivided rt_divide_long(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return {q, a - q * b};
}
__device__ __forceinline__ RtDivided rt_divide(int64_t a, int64_t b)
{
    if (((a | b) >> 32) == 0) {
        uint32_t q = (uint32_t)a / (uint32_t)b;
        return {q, (uint32_t)a - q * (uint32_t)b};
    }
    return rt_divide_long(a, b);
}

// Offsets of entry `i` of some dims in two operands.
struct RtOffsets {
    int64_t x, y;
};
__device__ __forceinline__ RtOffsets rt_offsets(const RtCudaDims &d, int64_t i)
{
    RtOffsets at = {0, 0};

#pragma unroll 1
    for (int k = d.n - 1; k > 0; k--) {
        RtDivided part = rt_divide(i, d.dim[k]);
        at.x += part.rest * d.x[k];
        at.y += part.rest * d.y[k];
        i = part.quotient;
    }
    at.x += i * d.x[0];  // without dims i is 0
    at.y += i * d.y[0];
    return at;
}

// The value of the lane whose number differs in the bits of `lanes`; elements of any size.
template <class T> __device__ __forceinline__ T rt_swap_lanes(T x, int lanes)
{
    if constexpr (sizeof(T) < 4)
        return (T)__shfl_xor_sync((unsigned)RT_ALL_LANES, (int)x, lanes);
    else
        return __shfl_xor_sync((unsigned)RT_ALL_LANES, x, lanes);
}

// Combines a warp's values in a fixed tree; all lanes get the result. `join` must be commutative.
template <class T, class Join> __device__ __forceinline__ T rt_warp_join(T x, Join join)
{
    for (int k = RT_WARP / 2; k; k /= 2)
        x = join(x, rt_swap_lanes(x, k));
    return x;
}

// The same for all threads of a block of whole warps; `none` is the identity.
template <class T, class Join>
__device__ __forceinline__ T rt_block_join(T x, T none, Join join, Shared<T[RT_WARP]> &scratch)
{
    const int lane = (int)threadIdx.x % RT_WARP, warps = (int)blockDim.x / RT_WARP;

    x = rt_warp_join(x, join);
    __syncthreads();  // the results of the call before have been read
    if (lane == 0)
        scratch[threadIdx.x / RT_WARP] = x;
    __syncthreads();
    x = lane < warps ? (T)scratch[lane] : none;
    return rt_warp_join(x, join);
}

#endif
