// Sampling at the points of a grid, and its gradients. Each thread adds in the order of the CPU's
// kernels: channels, points and taps in their order.
#include "runtime/cuda/cuda.cuh"
#include "runtime/rt_grid.h"

enum { RT_GRID_BLOCK = 256 };

template <class T> struct RtGridLine;
template <> struct RtGridLine<float> {
    typedef RtTaps_f32 Taps;
    static __device__ __forceinline__ void find(const RtGrid &p, int64_t size, float x, Taps *t)
    {
        rt_grid_taps_f32(p.mode, p.outside, p.corners, size, x, t);
    }
};
template <> struct RtGridLine<double> {
    typedef RtTaps_f64 Taps;
    static __device__ __forceinline__ void find(const RtGrid &p, int64_t size, double x, Taps *t)
    {
        rt_grid_taps_f64(p.mode, p.outside, p.corners, size, x, t);
    }
};

// The taps of a point: along each dim of x, and their number along one.
template <class T> struct RtGridPoint {
    typename RtGridLine<T>::Taps line[3];
    int along, taps;
};

template <class T>
__device__ __forceinline__ RtGridPoint<T> rt_grid_point(const RtGrid &p, const T *grid)
{
    RtGridPoint<T> q;

    q.along = rt_grid_taps(p.mode);
    q.taps = 1;
    for (int d = 0; d < p.spatial; d++) {
        RtGridLine<T>::find(p, p.dim[d], grid[p.spatial - 1 - d], &q.line[d]);
        q.taps *= q.along;
    }
    return q;
}

// The index of tap k in a plane, -1 where it has none, and the tap's number along each dim.
template <class T>
__device__ __forceinline__ int32_t rt_grid_tap(const RtGrid &p, const RtGridPoint<T> &q, int k,
                                               int *tap)
{
    int32_t index = 0;

    for (int d = p.spatial - 1; d >= 0; d--) {
        tap[d] = k % q.along;
        k /= q.along;
    }
    for (int d = 0; d < p.spatial; d++) {
        int32_t at = q.line[d].at[tap[d]];
        index = at < 0 || index < 0 ? -1 : index * (int32_t)p.dim[d] + at;
    }
    return index;
}

// The product of the weights, with the slope instead of the weight along dim `slope` (-1: none).
// From the last dim to the first, or from the first to the last, it is multiplied as on the CPU.
template <class T>
__device__ __forceinline__ T rt_grid_weight(const RtGrid &p, const RtGridPoint<T> &q,
                                            const int *tap, int slope)
{
    T weight = 1;

    for (int d = 0; d < p.spatial; d++)
        weight *= d == slope ? q.line[d].slope[tap[d]] : q.line[d].weight[tap[d]];
    return weight;
}

__device__ __forceinline__ int64_t rt_grid_plane(const RtGrid &p)
{
    int64_t plane = 1;

    for (int d = 0; d < p.spatial; d++)
        plane *= p.dim[d];
    return plane;
}

// A thread for a point and some channels of a sample.
template <class T>
__device__ __forceinline__ void rt_grid_sampled(const RtGrid &p, int64_t channels, T *y, const T *x,
                                                const T *grid)
{
    int64_t i = (int64_t)blockIdx.x * RT_GRID_BLOCK + threadIdx.x;
    int64_t chunks = (p.c + channels - 1) / channels, plane = rt_grid_plane(p);
    RtDivided a = rt_divide(i, p.points), b = rt_divide(a.quotient, chunks);
    int64_t first = b.rest * channels, last = first + channels < p.c ? first + channels : p.c;
    int tap[3];

    if (i >= p.n * chunks * p.points)
        return;
    RtGridPoint<T> q = rt_grid_point(p, grid + (b.quotient * p.points + a.rest) * p.spatial);
    for (int64_t c = first; c < last; c++) {
        const T *from = x + (b.quotient * p.c + c) * plane;
        T sum = 0;
        for (int k = 0; k < q.taps; k++) {
            int32_t at = rt_grid_tap(p, q, k, tap);
            sum += rt_grid_weight(p, q, tap, -1) * (at < 0 ? 0 : from[at]);
        }
        y[(b.quotient * p.c + c) * p.points + a.rest] = sum;
    }
}

// A thread for a point: it adds over all channels.
template <class T>
__device__ __forceinline__ void rt_grid_slopes(const RtGrid &p, T *dgrid, const T *x, const T *grid,
                                               const T *dy)
{
    int64_t i = (int64_t)blockIdx.x * RT_GRID_BLOCK + threadIdx.x, plane = rt_grid_plane(p);
    RtDivided a = rt_divide(i, p.points);
    T sum[3] = {0, 0, 0};
    int tap[3];

    if (i >= p.n * p.points)
        return;
    RtGridPoint<T> q = rt_grid_point(p, grid + i * p.spatial);
    for (int k = 0; k < q.taps; k++) {
        int32_t at = rt_grid_tap(p, q, k, tap);
        T part = 0;
        if (at < 0)
            continue;
        for (int64_t c = a.quotient * p.c; c < (a.quotient + 1) * p.c; c++)
            part += dy[c * p.points + a.rest] * x[c * plane + at];
        for (int d = 0; d < p.spatial; d++)
            sum[d] += rt_grid_weight(p, q, tap, p.spatial - 1 - d) * part;
    }
    for (int d = 0; d < p.spatial; d++)
        dgrid[i * p.spatial + d] = sum[d];
}

// A thread for a part of a plane: it adds what points give to that part.
template <class T>
__device__ __forceinline__ void rt_grid_scattered(const RtGrid &p, int64_t parts, T *dx,
                                                  const T *dy, const T *grid)
{
    int64_t i = (int64_t)blockIdx.x * RT_GRID_BLOCK + threadIdx.x, plane = rt_grid_plane(p);
    RtDivided a = rt_divide(i, parts), b = rt_divide(a.quotient, p.c);
    int64_t size = (plane + parts - 1) / parts, first = a.rest * size;
    int64_t last = first + size < plane ? first + size : plane;
    T *to = dx + a.quotient * plane;
    int tap[3];

    if (i >= p.n * p.c * parts)
        return;
    for (int64_t at = first; at < last; at++)
        to[at] = 0;
    for (int64_t j = 0; j < p.points; j++) {
        RtGridPoint<T> q = rt_grid_point(p, grid + (b.quotient * p.points + j) * p.spatial);
        T part = dy[a.quotient * p.points + j];
        for (int k = 0; k < q.taps; k++) {
            int32_t at = rt_grid_tap(p, q, k, tap);
            if (at >= first && at < last)
                to[at] += rt_grid_weight(p, q, tap, -1) * part;
        }
    }
}

#define RT_GRID_KERNELS(T, name)                                                                   \
    extern "C" __global__ void rt_cuda_grid_sample_##name(RtGrid p, int64_t channels, T *y,        \
                                                          const T *x, const T *grid)               \
    {                                                                                              \
        rt_grid_sampled(p, channels, y, x, grid);                                                  \
    }                                                                                              \
    RT_ENTRY(rt_cuda_grid_sample_##name);                                                          \
    extern "C" __global__ void rt_cuda_grid_slopes_##name(RtGrid p, T *dgrid, const T *x,          \
                                                          const T *grid, const T *dy)              \
    {                                                                                              \
        rt_grid_slopes(p, dgrid, x, grid, dy);                                                     \
    }                                                                                              \
    RT_ENTRY(rt_cuda_grid_slopes_##name);                                                          \
    extern "C" __global__ void rt_cuda_grid_scatter_##name(RtGrid p, int64_t parts, T *dx,         \
                                                           const T *dy, const T *grid)             \
    {                                                                                              \
        rt_grid_scattered(p, parts, dx, dy, grid);                                                 \
    }                                                                                              \
    RT_ENTRY(rt_cuda_grid_scatter_##name);
RT_GRID_KERNELS(float, f32)
RT_GRID_KERNELS(double, f64)
