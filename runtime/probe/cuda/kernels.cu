// The kernels that the probe measures: its own, which have the form of fused groups, and the
// runtime's.
#define RT_CUDA_EACH_TYPE(X) X(float, f32) X(double, f64)
#define RT_CUDA_EACH_HALF(X) X(RtBf16, bf16) X(RtF16, f16)
#define RT_CUDA_EACH_PRODUCT(X) X(float, f32) RT_CUDA_EACH_HALF(X)
#define RT_CUDA_EACH_ATTENTION(X) X(float, f32)
#define RT_CUDA_EACH_TENSOR(X) X(RtBf16, bf16)
#define RT_CUDA_EACH_WIDTH(X) X(1)

#include "runtime/cuda/group.cuh"

enum { PROBE_EACH = 4 };  // elements that a thread has together

extern "C" __global__ void probe_nothing(int64_t unused) {}
RT_ENTRY(probe_nothing);

// A number from -0.5 to 0.5 by a mix of the index's bits.
__device__ __forceinline__ float probe_random(int64_t i)
{
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9u;
    return (float)(x >> 40) * 0x1p-24f - 0.5f;
}

#define PROBE_DRAW(name, T, of_float)                                                              \
    extern "C" __global__ void probe_draw_##name(T *y, int64_t n)                                  \
    {                                                                                              \
        int64_t i = rt_thread();                                                                   \
                                                                                                   \
        if (i < n)                                                                                 \
            y[i] = of_float(probe_random(i));                                                      \
    }                                                                                              \
    RT_ENTRY(probe_draw_##name)

PROBE_DRAW(f32, float, float);
PROBE_DRAW(f64, double, double);
PROBE_DRAW(bf16, RtBf16, rt_to_bf16);
PROBE_DRAW(f16, RtF16, rt_to_f16);

extern "C" __global__ void probe_update(float *y, int64_t n)
{
    int64_t i = rt_thread() * PROBE_EACH;
    float a[PROBE_EACH];

    if (i >= n)
        return;
    rt_take(a, y, i);
    RT_UNROLL
    for (int k = 0; k < PROBE_EACH; k++)
        a[k] = a[k] * 0.5f + 1;
    rt_give(a, y, i);
}
RT_ENTRY(probe_update);

extern "C" __global__ void probe_sum(float *sums, const float *y, int64_t n)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x * PROBE_EACH;
    float s[PROBE_EACH] = {0, 0, 0, 0};

    for (int64_t i = rt_thread() * PROBE_EACH; i < n; i += step) {
        float a[PROBE_EACH];
        rt_take(a, y, i);
        RT_UNROLL
        for (int k = 0; k < PROBE_EACH; k++)
            s[k] += a[k];
    }
    sums[rt_thread()] = s[0] + s[1] + s[2] + s[3];
}
RT_ENTRY(probe_sum);

// Eight multiplications and additions of an element in each of `turns` iterations.
extern "C" __global__ void probe_chain(float *y, int64_t turns)
{
    int64_t i = rt_thread() * PROBE_EACH;
    float a[PROBE_EACH];

    rt_take(a, y, i);
    for (int64_t t = 0; t < turns; t++) {
        RT_UNROLL
        for (int k = 0; k < 8 * PROBE_EACH; k++)
            a[k % PROBE_EACH] = a[k % PROBE_EACH] * 0.5f + 1;
    }
    rt_give(a, y, i);
}
RT_ENTRY(probe_chain);

// Fails, as y is no address.
extern "C" __global__ void probe_fail(float *y) { y[rt_thread()] = 1; }
RT_ENTRY(probe_fail);

// The runtime's kernels.
#include "runtime/cuda/attention.cu"
#include "runtime/cuda/attention_grad.cu"
#include "runtime/cuda/copy.cu"
#include "runtime/cuda/dot.cu"
#include "runtime/cuda/progress.cu"
