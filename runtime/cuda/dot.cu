// Matrix products of batches with any strides. Long sums of few results are split over k, and a
// second kernel adds the parts in order.
#include "runtime/cuda/product.cuh"

// Where a block works: a tile of a batch entry, and a part of k.
struct RtDotTile {
    int64_t batch, part, row, column;
};
__device__ __forceinline__ RtDotTile rt_dot_tile_of(const RtCudaDot &d)
{
    RtDivided a = rt_divide(blockIdx.x, d.tiles_n), b = rt_divide(a.quotient, d.tiles_m);
    RtDivided c = rt_divide(b.quotient, d.parts);

    return {c.quotient, c.rest, b.rest * RT_EDGE, a.rest * RT_EDGE};
}

__device__ __forceinline__ int64_t rt_batch_start(const RtDot &p, const int64_t *stride, int64_t b)
{
    int64_t at = 0;

    for (int i = p.n_batch - 1; i >= 0; i--) {
        RtDivided d = rt_divide(b, p.batch[i]);
        at += d.rest * stride[i];
        b = d.quotient;
    }
    return at;
}

// The sums of halves, and their parts, are f32; a result is rounded once, unless it is f32.
template <class T>
__device__ __forceinline__ void rt_dot_tile(const RtCudaDot &d, T *y, RtValue<T> *partial,
                                            const T *left, const T *right)
{
    typedef RtValue<T> S;
    __shared__ __align__(16) RtSlice<S> a, b;
    const RtDot &p = d.p;
    RtDotTile at = rt_dot_tile_of(d);
    RtTilePosition thread = rt_tile_position(p.y_n != 1 && p.y_m == 1);
    const T *x = left + rt_batch_start(p, p.a_batch, at.batch);
    const T *z = right + rt_batch_start(p, p.b_batch, at.batch);
    S sum[RT_EACH][RT_EACH] = {};
    auto x_at = rt_operand(p.a_k == 1, [&](int i, int64_t k) {
        return at.row + i < p.m ? rt_value(x[(at.row + i) * p.a_m + k * p.a_k]) : 0;
    });
    auto z_at = rt_operand(p.b_k == 1, [&](int i, int64_t k) {
        return at.column + i < p.n ? rt_value(z[(at.column + i) * p.b_n + k * p.b_k]) : 0;
    });

    rt_multiply(sum, thread, p.k * at.part / d.parts, p.k * (at.part + 1) / d.parts, x_at, z_at, a,
                b);
    int64_t to = rt_batch_start(p, p.y_batch, at.batch);
    S *part = partial + (at.part * d.batches + at.batch) * p.m * p.n;
    rt_each_result(sum, thread, [&](int i, int j, S v) {
        int64_t row = at.row + i, column = at.column + j;
        if (row >= p.m || column >= p.n)
            return;
        if (d.parts > 1)
            part[row * p.n + column] = v;
        else
            rt_put_result(y, to + row * p.y_m + column * p.y_n, v, d.is_f32);
    });
}

// A thread for a result.
template <class Y>
__device__ __forceinline__ void rt_dot_parts(const RtCudaDot &d, Y *y, const RtValue<Y> *partial)
{
    const RtDot &p = d.p;
    int64_t all = d.batches * p.m * p.n, i = (int64_t)blockIdx.x * RT_PRODUCT_BLOCK + threadIdx.x;

    if (i >= all)
        return;
    RtDivided a = rt_divide(i, p.n), b = rt_divide(a.quotient, p.m);
    RtValue<Y> sum = partial[i];
    for (int64_t k = 1; k < d.parts; k++)
        sum += partial[k * all + i];
    rt_put(y[rt_batch_start(p, p.y_batch, b.quotient) + b.rest * p.y_m + a.rest * p.y_n], sum);
}

#define RT_DOT(T, name)                                                                            \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_dot_##name(RtCudaDot d, T *y, RtValue<T> *partial, const T *a, const T *b)         \
    {                                                                                              \
        rt_dot_tile(d, y, partial, a, b);                                                          \
    }                                                                                              \
    RT_ENTRY(rt_cuda_dot_##name);
RT_CUDA_EACH_PRODUCT(RT_DOT)
RT_DOT(double, f64)

#define RT_DOT_JOIN(Y, name)                                                                       \
    extern "C" __global__ void rt_cuda_dot_join_##name(RtCudaDot d, Y *y,                          \
                                                       const RtValue<Y> *partial)                  \
    {                                                                                              \
        rt_dot_parts(d, y, partial);                                                               \
    }                                                                                              \
    RT_ENTRY(rt_cuda_dot_join_##name);
RT_DOT_JOIN(float, f32)
RT_DOT_JOIN(double, f64)
RT_CUDA_EACH_HALF(RT_DOT_JOIN)
