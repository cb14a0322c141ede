// Running products along a dim, kept in double. A thread has a line.
#include "runtime/cuda/cuda.cuh"

template <class T>
__device__ __forceinline__ void rt_running_product_line(const RtAlong &p, T *y, const T *x)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    RtDivided line = rt_divide(i, p.inner);
    int64_t start = line.quotient * p.n * p.inner + line.rest;
    double product = 1;

    if (i >= p.outer * p.inner)
        return;
    for (int64_t k = 0; k < p.n; k++) {
        product *= (double)x[start + k * p.inner];
        y[start + k * p.inner] = (T)product;
    }
}

#define RT_RUNNING_PRODUCT(T, name)                                                                \
    extern "C" __global__ void rt_cuda_running_product_##name(RtAlong p, T *y, const T *x)         \
    {                                                                                              \
        rt_running_product_line(p, y, x);                                                          \
    }                                                                                              \
    RT_ENTRY(rt_cuda_running_product_##name);
RT_RUNNING_PRODUCT(float, f32)
RT_RUNNING_PRODUCT(double, f64)
