// Pooling over windows and its gradients. Padding counts as -inf for a maximum and as 0 for a sum;
// NaN is the largest. A gradient's thread adds up what all windows over its element give it, in the
// order of the windows.
#include "runtime/cuda/window.cuh"

enum { RT_POOL_BLOCK = 256 };

// Calls f with the offset of each element under the window at `y`, in order. The offset is within
// a channel of a sample.
template <class F>
__device__ __forceinline__ void rt_each_tap(const RtCudaWindow &w, const int32_t *y, F f)
{
    for (int32_t i = 0; i < w.size[0]; i++) {
        int32_t a = rt_under(w, 0, y[0], i);
        if (!rt_is_inside(a, w.x_dim[0]))
            continue;
        for (int32_t j = 0; j < w.size[1]; j++) {
            int32_t b = rt_under(w, 1, y[1], j);
            if (!rt_is_inside(b, w.x_dim[1]))
                continue;
            for (int32_t k = 0; k < w.size[2]; k++) {
                int32_t c = rt_under(w, 2, y[2], k);
                if (rt_is_inside(c, w.x_dim[2]))
                    f(a * w.x_step[0] + b * w.x_step[1] + c * w.x_step[2]);
            }
        }
    }
}

// Calls f with each coordinate of y whose window has the element of x, in order.
template <class F>
__device__ __forceinline__ void rt_each_window(const RtCudaWindow &w, const int32_t *x, F f)
{
    int32_t y[3];

    for (int32_t i = w.size[0] - 1; i >= 0; i--) {
        y[0] = rt_over(w, 0, x[0], i);
        for (int32_t j = w.size[1] - 1; j >= 0 && y[0] >= 0; j--) {
            y[1] = rt_over(w, 1, x[1], j);
            for (int32_t k = w.size[2] - 1; k >= 0 && y[1] >= 0; k--) {
                y[2] = rt_over(w, 2, x[2], k);
                if (y[2] >= 0)
                    f(y);
            }
        }
    }
}

__device__ __forceinline__ int64_t rt_pool_index()
{
    return (int64_t)blockIdx.x * RT_POOL_BLOCK + threadIdx.x;
}

// Where a point's channel begins in x.
__device__ __forceinline__ int64_t rt_x_start(const RtCudaWindow &w, const RtPoint &p)
{
    return p.sample * w.x_sample + p.channel * w.x_channel;
}

__device__ __forceinline__ int64_t rt_y_offset(const RtCudaWindow &w, const RtPoint &p,
                                               const int32_t *y)
{
    return p.sample * w.y_sample + p.channel * w.y_channel + y[0] * w.y_step[0] +
           y[1] * w.y_step[1] + y[2] * w.y_step[2];
}

extern "C" __global__ void rt_cuda_max_pool(RtCudaWindow w, float *y, const float *x)
{
    int64_t i = rt_pool_index();

    if (i >= w.y_count)
        return;
    RtPoint p = rt_point(i, w.y_dim, w.c, w.y_last);
    const float *from = x + rt_x_start(w, p);
    float best = -INFINITY;
    rt_each_tap(w, p.at, [&](int64_t at) {
        float v = from[at];
        best = v > best || v != v ? v : best;
    });
    y[i] = best;
}
RT_ENTRY(rt_cuda_max_pool);

extern "C" __global__ void rt_cuda_sum_pool(RtCudaWindow w, float *y, const float *x)
{
    int64_t i = rt_pool_index();

    if (i >= w.y_count)
        return;
    RtPoint p = rt_point(i, w.y_dim, w.c, w.y_last);
    const float *from = x + rt_x_start(w, p);
    float sum = 0;
    rt_each_tap(w, p.at, [&](int64_t at) { sum += from[at]; });
    y[i] = sum;
}
RT_ENTRY(rt_cuda_sum_pool);

// The first of the largest elements under a window gets all of the result's gradient.
extern "C" __global__ void rt_cuda_max_pool_grad(RtCudaWindow w, float *dx, const float *x,
                                                 const float *dy)
{
    int64_t i = rt_pool_index();

    if (i >= w.x_count)
        return;
    RtPoint p = rt_point(i, w.x_dim, w.c, w.x_last);
    const float *from = x + rt_x_start(w, p);
    int64_t mine = p.at[0] * w.x_step[0] + p.at[1] * w.x_step[1] + p.at[2] * w.x_step[2];
    float sum = 0;
    rt_each_window(w, p.at, [&](const int32_t *y) {
        float best = -INFINITY;
        int64_t best_at = -1;
        rt_each_tap(w, y, [&](int64_t at) {
            float v = from[at];
            if (best_at < 0 || v > best || (v != v && best == best)) {
                best = v;
                best_at = at;
            }
        });
        sum += best_at == mine ? dy[rt_y_offset(w, p, y)] : 0;
    });
    dx[i] = sum;
}
RT_ENTRY(rt_cuda_max_pool_grad);

extern "C" __global__ void rt_cuda_sum_pool_grad(RtCudaWindow w, float *dx, const float *dy)
{
    int64_t i = rt_pool_index();

    if (i >= w.x_count)
        return;
    RtPoint p = rt_point(i, w.x_dim, w.c, w.x_last);
    float sum = 0;
    rt_each_window(w, p.at, [&](const int32_t *y) { sum += dy[rt_y_offset(w, p, y)]; });
    dx[i] = sum;
}
RT_ENTRY(rt_cuda_sum_pool_grad);
