// Resamples along one dim. A thread writes the taps of a position; a thread sums those of a result.
#include "runtime/cuda/cuda.cuh"
#include "runtime/rt_resample.h"

enum { RT_RESAMPLE_BLOCK = 256, RT_RESAMPLE_DEPTH = 32 };

// The taps of position o: taps[2 o + 1] elements from taps[2 o] on, with the weights at o · most.

template <class T>
__device__ __forceinline__ void rt_write_taps(const RtCudaResample &q, int32_t *taps, T *weight)
{
    int64_t o = (int64_t)blockIdx.x * RT_RESAMPLE_BLOCK + threadIdx.x;

    if (o >= q.p.size)
        return;
    RtTapsAt t = rt_resample_taps(&q.p, o);
    taps[2 * o] = (int32_t)t.first;
    taps[2 * o + 1] = (int32_t)t.count;
    for (int64_t k = 0; k < t.count; k++)
        weight[o * q.most + k] = (T)rt_resample_weight(&q.p, &t, k);
}

// The sum of n terms; long sums are added in double.
template <class T, class F> __device__ __forceinline__ T rt_sum_taps(int64_t n, F term)
{
    double total = 0;

#pragma unroll 1
    for (int64_t begin = 0; begin < n; begin += RT_RESAMPLE_DEPTH) {
        T sum = 0;
        for (int64_t k = begin; k < n && k < begin + RT_RESAMPLE_DEPTH; k++)
            sum += term(k);
        total += (double)sum;
    }
    return (T)total;
}

// Element i of y, whose dim along which it resamples has n elements.
struct RtResult {
    int64_t outer, at, inner;
};
__device__ __forceinline__ RtResult rt_result(int64_t i, int64_t n, int64_t inner)
{
    RtDivided a = rt_divide(i, inner), b = rt_divide(a.quotient, n);

    return {b.quotient, b.rest, a.rest};
}

template <class T>
__device__ __forceinline__ void rt_resample_forward(const RtCudaResample &q, T *y, const T *x,
                                                    const int32_t *taps, const T *weight)
{
    const RtResample &p = q.p;
    int64_t i = (int64_t)blockIdx.x * RT_RESAMPLE_BLOCK + threadIdx.x;

    if (i >= p.outer * p.size * p.inner)
        return;
    RtResult r = rt_result(i, p.size, p.inner);
    const T *from = x + (r.outer * p.n + taps[2 * r.at]) * p.inner + r.inner;
    const T *w = weight + r.at * q.most;
    y[i] = rt_sum_taps<T>(taps[2 * r.at + 1], [&](int64_t k) { return w[k] * from[k * p.inner]; });
}

// The first position that isn't before those that read element i, or (is_end) that is past them.
__device__ __forceinline__ int64_t rt_find_reader(const RtResample &p, const int32_t *taps,
                                                  int64_t i, bool is_end)
{
    bool falls = (p.mul < 0) != (p.div < 0);
    int64_t low = 0, high = p.size;

    while (low < high) {
        int64_t o = low + (high - low) / 2;
        int64_t begin = taps[2 * o], last = begin + taps[2 * o + 1];
        bool is_above = begin > i, is_below = last <= i;
        bool is_before = falls ? is_above : is_below, is_past = falls ? is_below : is_above;
        if (is_end ? !is_past : is_before)
            low = o + 1;
        else
            high = o;
    }
    return low;
}

template <class T>
__device__ __forceinline__ void rt_resample_back(const RtCudaResample &q, T *y, const T *x,
                                                 const int32_t *taps, const T *weight)
{
    const RtResample &p = q.p;
    int64_t i = (int64_t)blockIdx.x * RT_RESAMPLE_BLOCK + threadIdx.x;

    if (i >= p.outer * p.n * p.inner)
        return;
    RtResult r = rt_result(i, p.n, p.inner);
    int64_t first = rt_find_reader(p, taps, r.at, false), end = rt_find_reader(p, taps, r.at, true);
    const T *from = x + (r.outer * p.size + first) * p.inner + r.inner;
    y[i] = rt_sum_taps<T>(end - first, [&](int64_t k) {
        int64_t o = first + k;
        return weight[o * q.most + r.at - taps[2 * o]] * from[k * p.inner];
    });
}

#define RT_RESAMPLE(T, name)                                                                       \
    extern "C" __global__ void rt_cuda_resample_taps_##name(RtCudaResample q, int32_t *taps,       \
                                                            T *weight)                             \
    {                                                                                              \
        rt_write_taps(q, taps, weight);                                                            \
    }                                                                                              \
    RT_ENTRY(rt_cuda_resample_taps_##name);                                                        \
    extern "C" __global__ void rt_cuda_resample_##name(RtCudaResample q, T *y, const T *x,         \
                                                       const int32_t *taps, const T *weight)       \
    {                                                                                              \
        rt_resample_forward(q, y, x, taps, weight);                                                \
    }                                                                                              \
    RT_ENTRY(rt_cuda_resample_##name);                                                             \
    extern "C" __global__ void rt_cuda_resample_transposed_##name(                                 \
        RtCudaResample q, T *y, const T *x, const int32_t *taps, const T *weight)                  \
    {                                                                                              \
        rt_resample_back(q, y, x, taps, weight);                                                   \
    }                                                                                              \
    RT_ENTRY(rt_cuda_resample_transposed_##name);
RT_RESAMPLE(float, f32)
RT_RESAMPLE(double, f64)
