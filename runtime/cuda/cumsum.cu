// Cumulative sums along a dim. Sums of floats are kept in double; integer sums wrap.
#include "runtime/cuda/cuda.cuh"

enum { RT_SCAN_BLOCK = 256, RT_SCAN_WARPS = RT_SCAN_BLOCK / RT_WARP };

template <class T> struct RtSum {
    typedef uint64_t type;
};
template <> struct RtSum<float> {
    typedef double type;
};
template <> struct RtSum<double> {
    typedef double type;
};

// The sum of the lanes up to this one.
template <class S> __device__ __forceinline__ S rt_warp_scan(S s)
{
    for (int k = 1; k < RT_WARP; k *= 2) {
        S before = __shfl_up_sync((unsigned)RT_ALL_LANES, s, (unsigned)k);
        if ((int)threadIdx.x % RT_WARP >= k)
            s += before;
    }
    return s;
}

// A block for a line: a block's elements at a time, on top of the sum of those before.
template <class T> __device__ __forceinline__ void rt_cumsum_row(const RtAlong &p, T *y, const T *x)
{
    typedef typename RtSum<T>::type S;
    __shared__ Shared<S[RT_SCAN_WARPS]> scratch;
    const int lane = (int)threadIdx.x % RT_WARP, warp = (int)threadIdx.x / RT_WARP;
    RtDivided line = rt_divide(blockIdx.x, p.inner);
    int64_t start = line.quotient * p.n * p.inner + line.rest;
    S before = 0;

    for (int64_t first = 0; first < p.n; first += RT_SCAN_BLOCK) {
        int64_t i = first + threadIdx.x, at = start + (p.reverse ? p.n - 1 - i : i) * p.inner;
        S s = rt_warp_scan<S>(i < p.n ? (S)x[at] : 0);
        S shifted = __shfl_up_sync((unsigned)RT_ALL_LANES, s, 1u), sum = before;

        __syncthreads();  // the sums of the previous iteration have been read
        if (lane == RT_WARP - 1)
            scratch[warp] = s;
        __syncthreads();
        for (int w = 0; w < RT_SCAN_WARPS; w++) {
            sum += w < warp ? (S)scratch[w] : 0;
            before += (S)scratch[w];
        }
        if (i < p.n)
            y[at] = (T)(sum + (p.exclusive ? (lane ? shifted : 0) : s));
    }
}

// A thread for a line; neighbouring threads have neighbouring lines.
template <class T>
__device__ __forceinline__ void rt_cumsum_column(const RtAlong &p, T *y, const T *x)
{
    typedef typename RtSum<T>::type S;
    int64_t i = (int64_t)blockIdx.x * RT_SCAN_BLOCK + threadIdx.x;
    RtDivided line = rt_divide(i, p.inner);
    int64_t start = line.quotient * p.n * p.inner + line.rest;
    S sum = 0;

    if (i >= p.outer * p.inner)
        return;
    for (int64_t k = 0; k < p.n; k++) {
        int64_t at = start + (p.reverse ? p.n - 1 - k : k) * p.inner;
        S before = sum;
        sum += (S)x[at];
        y[at] = (T)(p.exclusive ? before : sum);
    }
}

#define RT_CUMSUM(T, name)                                                                         \
    extern "C" __global__ void rt_cuda_cumsum_row_##name(RtAlong p, T *y, const T *x)              \
    {                                                                                              \
        rt_cumsum_row(p, y, x);                                                                    \
    }                                                                                              \
    RT_ENTRY(rt_cuda_cumsum_row_##name);                                                           \
    extern "C" __global__ void rt_cuda_cumsum_column_##name(RtAlong p, T *y, const T *x)           \
    {                                                                                              \
        rt_cumsum_column(p, y, x);                                                                 \
    }                                                                                              \
    RT_ENTRY(rt_cuda_cumsum_column_##name);
RT_CUDA_EACH_TYPE(RT_CUMSUM)
