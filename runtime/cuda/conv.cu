// Convolutions and their gradients as products whose operands are read from under the window. Where
// groups are so small that tiles would be empty (depthwise), a thread sums one element. Sums are
// f32; a result is rounded once, unless it is f32.
#include "runtime/cuda/product.cuh"
#include "runtime/cuda/window.cuh"

// A channel of a group, and a tap of the window.
struct RtTap {
    int32_t channel, at[3], number;
};
// Term k of `channels` channels times all taps. The channels are contiguous, or the taps, as in x.
__device__ __forceinline__ RtTap rt_tap(const RtCudaWindow &w, int64_t k, int32_t channels,
                                        bool is_last)
{
    RtTap t;
    int32_t taps = w.size[0] * w.size[1] * w.size[2];
    RtDivided d = rt_divide(k, is_last ? channels : taps);

    t.channel = (int32_t)(is_last ? d.rest : d.quotient);
    t.number = (int32_t)(is_last ? d.quotient : d.rest);
    RtDivided a = rt_divide(t.number, w.size[2]), b = rt_divide(a.quotient, w.size[1]);
    t.at[0] = (int32_t)b.quotient;
    t.at[1] = (int32_t)b.rest;
    t.at[2] = (int32_t)a.rest;
    return t;
}

// A point of x or y without its channel.
__device__ __forceinline__ RtPoint rt_pixel(int64_t i, const int32_t *dim)
{
    return rt_point(i, dim, 1, true);
}

__device__ __forceinline__ int64_t rt_x_offset(const RtCudaWindow &w, const RtPoint &p,
                                               int32_t channel)
{
    return p.sample * w.x_sample + channel * w.x_channel + p.at[0] * w.x_step[0] +
           p.at[1] * w.x_step[1] + p.at[2] * w.x_step[2];
}
__device__ __forceinline__ int64_t rt_y_offset(const RtCudaWindow &w, const RtPoint &p,
                                               int32_t channel)
{
    return p.sample * w.y_sample + channel * w.y_channel + p.at[0] * w.y_step[0] +
           p.at[1] * w.y_step[1] + p.at[2] * w.y_step[2];
}

// x under a tap of the window at point p of y; 0 in the padding.
template <class T>
__device__ __forceinline__ float rt_x_under(const RtCudaWindow &w, const T *x, RtPoint p,
                                            const RtTap &t, int32_t channel)
{
    for (int i = 0; i < 3; i++) {
        p.at[i] = rt_under(w, i, p.at[i], t.at[i]);
        if (!rt_is_inside(p.at[i], w.x_dim[i]))
            return 0;
    }
    return rt_value(x[rt_x_offset(w, p, channel)]);
}

// y whose window has that tap at point p of x; 0 where there is none.
template <class T>
__device__ __forceinline__ float rt_y_over(const RtCudaWindow &w, const T *y, RtPoint p,
                                           const RtTap &t, int32_t channel)
{
    for (int i = 0; i < 3; i++) {
        p.at[i] = rt_over(w, i, p.at[i], t.at[i]);
        if (p.at[i] < 0)
            return 0;
    }
    return rt_value(y[rt_y_offset(w, p, channel)]);
}

// Sizes of a group, and where its channels begin.
struct RtGroup {
    int32_t c, o, taps, first_c, first_o;
};
__device__ __forceinline__ RtGroup rt_group(const RtCudaWindow &w, int64_t g)
{
    int32_t c = w.c / w.groups, o = w.o / w.groups;

    return {c, o, w.size[0] * w.size[1] * w.size[2], (int32_t)g * c, (int32_t)g * o};
}
// The weight of channel o of y (of all groups) and channel c of x (of the group).
__device__ __forceinline__ int64_t rt_w_offset(const RtGroup &g, int32_t o, int32_t c, int32_t tap)
{
    return ((int64_t)o * g.c + c) * g.taps + tap;
}

// Where a block works: a tile of a group's product, and a part of its terms.
struct RtConvTile {
    int64_t group, part, row, column;
};
__device__ __forceinline__ RtConvTile rt_conv_tile_of(const RtCudaConv &c)
{
    RtDivided a = rt_divide(blockIdx.x, c.tiles_n), b = rt_divide(a.quotient, c.tiles_m);
    RtDivided d = rt_divide(b.quotient, c.parts);

    return {d.quotient, d.rest, b.rest * RT_EDGE, a.rest * RT_EDGE};
}

// y: rows are the pixels of all samples, columns the group's channels.
template <class T>
__device__ __forceinline__ void rt_conv_tile(const RtCudaWindow &w, const RtCudaConv &c, T *y,
                                             const T *x, const T *weight)
{
    __shared__ __align__(16) RtSlice<float> a, b;
    RtConvTile at = rt_conv_tile_of(c);
    RtGroup g = rt_group(w, at.group);
    RtTilePosition thread = rt_tile_position(!w.y_last);
    float sum[RT_EACH][RT_EACH] = {};
    auto left = rt_operand(w.x_last, [&](int i, int64_t k) {
        RtTap t = rt_tap(w, k, g.c, w.x_last);
        return at.row + i < c.rows
                   ? rt_x_under(w, x, rt_pixel(at.row + i, w.y_dim), t, g.first_c + t.channel)
                   : 0;
    });
    auto right = rt_operand(true, [&](int i, int64_t k) {
        RtTap t = rt_tap(w, k, g.c, w.x_last);
        int32_t o = (int32_t)at.column + i;
        return o < g.o ? rt_value(weight[rt_w_offset(g, g.first_o + o, t.channel, t.number)]) : 0;
    });

    rt_multiply(sum, thread, 0, c.terms, left, right, a, b);
    rt_each_result(sum, thread, [&](int i, int j, float v) {
        int64_t row = at.row + i, o = at.column + j;
        if (row < c.rows && o < g.o)
            rt_put_result(y, rt_y_offset(w, rt_pixel(row, w.y_dim), g.first_o + (int32_t)o), v,
                          w.is_f32);
    });
}

// dx: rows are the pixels of all samples, columns the group's channels, terms its channels of y and
// the taps.
template <class T>
__device__ __forceinline__ void rt_input_grad_tile(const RtCudaWindow &w, const RtCudaConv &c,
                                                   T *dx, const T *dy, const T *weight)
{
    __shared__ __align__(16) RtSlice<float> a, b;
    RtConvTile at = rt_conv_tile_of(c);
    RtGroup g = rt_group(w, at.group);
    RtTilePosition thread = rt_tile_position(!w.x_last);
    float sum[RT_EACH][RT_EACH] = {};
    auto left = rt_operand(w.y_last, [&](int i, int64_t k) {
        RtTap t = rt_tap(w, k, g.o, w.y_last);
        return at.row + i < c.rows
                   ? rt_y_over(w, dy, rt_pixel(at.row + i, w.x_dim), t, g.first_o + t.channel)
                   : 0;
    });
    auto right = rt_operand(true, [&](int i, int64_t k) {
        RtTap t = rt_tap(w, k, g.o, w.y_last);
        int32_t channel = (int32_t)at.column + i;
        return channel < g.c
                   ? rt_value(weight[rt_w_offset(g, g.first_o + t.channel, channel, t.number)])
                   : 0;
    });

    rt_multiply(sum, thread, 0, c.terms, left, right, a, b);
    rt_each_result(sum, thread, [&](int i, int j, float v) {
        int64_t row = at.row + i, channel = at.column + j;
        if (row < c.rows && channel < g.c)
            rt_put_result(dx, rt_x_offset(w, rt_pixel(row, w.x_dim), g.first_c + (int32_t)channel),
                          v, w.is_f32);
    });
}

// dw: rows are the group's channels of y, columns its channels of x and the taps, terms the pixels
// of all samples. Parts are stored as [part, o, c, taps].
template <class T>
__device__ __forceinline__ void rt_weight_grad_tile(const RtCudaWindow &w, const RtCudaConv &c,
                                                    T *dw, const T *x, const T *dy)
{
    __shared__ __align__(16) RtSlice<float> a, b;
    RtConvTile at = rt_conv_tile_of(c);
    RtGroup g = rt_group(w, at.group);
    RtTilePosition thread = rt_tile_position(false);
    float sum[RT_EACH][RT_EACH] = {};
    auto left = rt_operand(!w.y_last, [&](int i, int64_t k) {
        int32_t o = (int32_t)at.row + i;
        return o < g.o ? rt_value(dy[rt_y_offset(w, rt_pixel(k, w.y_dim), g.first_o + o)]) : 0;
    });
    auto right = rt_operand(!w.x_last, [&](int i, int64_t k) {
        RtTap t = rt_tap(w, at.column + i, g.c, w.x_last);
        return at.column + i < c.columns
                   ? rt_x_under(w, x, rt_pixel(k, w.y_dim), t, g.first_c + t.channel)
                   : 0;
    });

    rt_multiply(sum, thread, c.terms * at.part / c.parts, c.terms * (at.part + 1) / c.parts, left,
                right, a, b);
    int64_t to = at.part * w.o * g.c * g.taps;
    rt_each_result(sum, thread, [&](int i, int j, float v) {
        int64_t o = at.row + i, column = at.column + j;
        RtTap t = rt_tap(w, column, g.c, w.x_last);
        if (o < g.o && column < c.columns)
            rt_put_result(dw, to + rt_w_offset(g, g.first_o + (int32_t)o, t.channel, t.number), v,
                          w.is_f32);
    });
}

// Adds the parts of dw in their order; a thread for an element.
template <class Y>
__device__ __forceinline__ void rt_conv_parts(const RtCudaConv &c, int64_t n, Y *dw,
                                              const float *partial)
{
    int64_t i = (int64_t)blockIdx.x * RT_PRODUCT_BLOCK + threadIdx.x;

    if (i >= n)
        return;
    float sum = partial[i];
    for (int64_t k = 1; k < c.parts; k++)
        sum += partial[k * n + i];
    rt_put(dw[i], sum);
}

// ---- small groups: a thread, or a block, for an element ----

template <class T>
__device__ __forceinline__ void rt_conv_element(const RtCudaWindow &w, T *y, const T *x,
                                                const T *weight)
{
    int64_t i = (int64_t)blockIdx.x * RT_PRODUCT_BLOCK + threadIdx.x;

    if (i >= w.y_count)
        return;
    RtPoint p = rt_point(i, w.y_dim, w.o, w.y_last);
    RtGroup g = rt_group(w, p.channel / (w.o / w.groups));
    float sum = 0;
    for (int32_t k = 0; k < g.c * g.taps; k++) {
        RtTap t = rt_tap(w, k, g.c, false);
        sum = fmaf(rt_x_under(w, x, p, t, g.first_c + t.channel),
                   rt_value(weight[rt_w_offset(g, p.channel, t.channel, t.number)]), sum);
    }
    rt_put_result(y, i, sum, w.is_f32);
}

template <class T>
__device__ __forceinline__ void rt_input_grad_element(const RtCudaWindow &w, T *dx, const T *dy,
                                                      const T *weight)
{
    int64_t i = (int64_t)blockIdx.x * RT_PRODUCT_BLOCK + threadIdx.x;

    if (i >= w.x_count)
        return;
    RtPoint p = rt_point(i, w.x_dim, w.c, w.x_last);
    RtGroup g = rt_group(w, p.channel / (w.c / w.groups));
    float sum = 0;
    for (int32_t k = 0; k < g.o * g.taps; k++) {
        RtTap t = rt_tap(w, k, g.o, false);
        int32_t o = g.first_o + t.channel;
        sum = fmaf(rt_y_over(w, dy, p, t, o),
                   rt_value(weight[rt_w_offset(g, o, p.channel - g.first_c, t.number)]), sum);
    }
    rt_put_result(dx, i, sum, w.is_f32);
}

// A block for an element of dw, whose terms are the pixels of all samples.
template <class T>
__device__ __forceinline__ void rt_weight_grad_element(const RtCudaWindow &w, int64_t pixels, T *dw,
                                                       const T *x, const T *dy)
{
    __shared__ Shared<float[RT_WARP]> scratch;
    RtGroup g = rt_group(w, 0);
    RtDivided d = rt_divide(blockIdx.x, g.c * g.taps);
    int32_t o = (int32_t)d.quotient;
    RtTap t = rt_tap(w, d.rest, g.c, false);
    int32_t channel = o / g.o * g.c + t.channel;
    float sum = 0;

    for (int64_t k = threadIdx.x; k < pixels; k += RT_PRODUCT_BLOCK) {
        RtPoint p = rt_pixel(k, w.y_dim);
        sum = fmaf(rt_x_under(w, x, p, t, channel), rt_value(dy[rt_y_offset(w, p, o)]), sum);
    }
    sum = rt_block_join(
        sum, 0.0f, [](float a, float b) { return a + b; }, scratch);
    if (threadIdx.x == 0)
        rt_put_result(dw, blockIdx.x, sum, w.is_f32);
}

// ---- entries ----

#define RT_CONV(T, name)                                                                           \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_conv_##name(RtCudaWindow w, RtCudaConv c, T *y, const T *x, const T *weight)       \
    {                                                                                              \
        rt_conv_tile(w, c, y, x, weight);                                                          \
    }                                                                                              \
    RT_ENTRY(rt_cuda_conv_##name);                                                                 \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK) rt_cuda_conv_input_grad_##name( \
        RtCudaWindow w, RtCudaConv c, T *dx, const T *dy, const T *weight)                         \
    {                                                                                              \
        rt_input_grad_tile(w, c, dx, dy, weight);                                                  \
    }                                                                                              \
    RT_ENTRY(rt_cuda_conv_input_grad_##name);                                                      \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_conv_weight_grad_##name(RtCudaWindow w, RtCudaConv c, T *dw, const T *x,           \
                                        const T *dy)                                               \
    {                                                                                              \
        rt_weight_grad_tile(w, c, dw, x, dy);                                                      \
    }                                                                                              \
    RT_ENTRY(rt_cuda_conv_weight_grad_##name);                                                     \
    extern "C" __global__ void rt_cuda_conv_small_##name(RtCudaWindow w, T *y, const T *x,         \
                                                         const T *weight)                          \
    {                                                                                              \
        rt_conv_element(w, y, x, weight);                                                          \
    }                                                                                              \
    RT_ENTRY(rt_cuda_conv_small_##name);                                                           \
    extern "C" __global__ void rt_cuda_conv_input_grad_small_##name(RtCudaWindow w, T *dx,         \
                                                                    const T *dy, const T *weight)  \
    {                                                                                              \
        rt_input_grad_element(w, dx, dy, weight);                                                  \
    }                                                                                              \
    RT_ENTRY(rt_cuda_conv_input_grad_small_##name);                                                \
    extern "C" __global__ void rt_cuda_conv_weight_grad_small_##name(                              \
        RtCudaWindow w, int64_t pixels, T *dw, const T *x, const T *dy)                            \
    {                                                                                              \
        rt_weight_grad_element(w, pixels, dw, x, dy);                                              \
    }                                                                                              \
    RT_ENTRY(rt_cuda_conv_weight_grad_small_##name);
RT_CUDA_EACH_PRODUCT(RT_CONV)

#define RT_CONV_JOIN(Y, name)                                                                      \
    extern "C" __global__ void rt_cuda_conv_join_##name(RtCudaConv c, int64_t n, Y *dw,            \
                                                        const float *partial)                      \
    {                                                                                              \
        rt_conv_parts(c, n, dw, partial);                                                          \
    }                                                                                              \
    RT_ENTRY(rt_cuda_conv_join_##name);
RT_CONV_JOIN(float, f32)
RT_CUDA_EACH_HALF(RT_CONV_JOIN)
