// Attention: dropout(softmax(scale · q·k + bias)) · v, without storing rows of scores. A block goes
// over tiles of keys for 64 queries, each of which keeps its maximum and its sum so far (online
// softmax: Milakov and Gimelshein 2018; tiled: Dao et al., "FlashAttention", 2022).
#include "runtime/cuda/attention_mma.cuh"
#include "runtime/cuda/scores.cuh"

// A thread's rows: maximum and sum so far, and the results up to a factor.
template <int TILES> struct RtOnline {
    float most[RT_EACH], sum[RT_EACH], y[TILES][RT_EACH][RT_EACH];
};

// Turns products into weights for the rows, relative to their maxima, and rescales what was there.
template <int TILES>
__device__ __forceinline__ void rt_softmax(const RtAttention &p, const RtMasks &m, bool all,
                                           int64_t row, int64_t key, float (&s)[RT_EACH][RT_EACH],
                                           RtOnline<TILES> &o)
{
#pragma unroll
    for (int i = 0; i < RT_EACH; i++) {
        auto larger = [](float a, float b) { return a != a || a > b ? a : b; };
        float most = -INFINITY, sum = 0;

#pragma unroll
        for (int j = 0; j < RT_EACH; j++) {
            s[i][j] = rt_score(p, m, all, s[i][j], row + i, key + j).s;
            most = larger(s[i][j], most);
        }
        most = larger(rt_row_join(most, larger), o.most[i]);
        float shift = most == -INFINITY ? 0 : most, keep = rt_exp_lowf(o.most[i] - shift);
#pragma unroll
        for (int j = 0; j < RT_EACH; j++) {
            s[i][j] = rt_exp_lowf(s[i][j] - shift);
            sum += s[i][j];
        }
        sum = rt_row_join(sum, [](float a, float b) { return a + b; });
        o.sum[i] = o.sum[i] * keep + sum;
        o.most[i] = most;
#pragma unroll
        for (int c = 0; c < TILES; c++)
#pragma unroll
            for (int j = 0; j < RT_EACH; j++)
                o.y[c][i][j] *= keep;
    }
}

// Stores a tile of weights, after dropout.
__device__ __forceinline__ void rt_put_weights(const RtCudaAttention &a, const RtMasks &m,
                                               RtTilePosition at, int64_t row, int64_t key,
                                               const float (&s)[RT_EACH][RT_EACH],
                                               RtScoreTile &tile)
{
#pragma unroll
    for (int i = 0; i < RT_EACH; i++) {
        float factor[RT_EACH] = {1, 1, 1, 1};

        if (a.p.drops)
            rt_drop(a, m, row + at.row + i, key + at.column, factor);
#pragma unroll
        for (int j = 0; j < RT_EACH; j++)
            tile[at.row + i][at.column + j] = a.p.drops ? s[i][j] * factor[j] : s[i][j];
    }
}

// A block's head, its first query, and its first column of y.
struct RtQueries {
    int64_t b, g, row, column;
};
template <int TILES> __device__ __forceinline__ RtQueries rt_queries(const RtCudaAttention &a)
{
    RtDivided c = rt_divide(blockIdx.x, a.columns), t = rt_divide(c.quotient, a.tiles);
    RtDivided g = rt_divide(t.quotient, a.groups);

    return {g.quotient, g.rest, t.rest * RT_EDGE, c.rest * RT_EDGE * TILES};
}

template <int TILES, class T>
__device__ __forceinline__ void rt_put_rows(const RtAttention &p, const RtQueries &at,
                                            RtTilePosition thread, const RtOnline<TILES> &o, T *y,
                                            float *max, float *sum)
{
#pragma unroll
    for (int i = 0; i < RT_EACH; i++) {
        int64_t row = at.row + thread.row + i;
        bool has_softmax = o.most[i] != -INFINITY && o.sum[i] == o.sum[i];
        bool is_empty = p.t == 0 || p.guard == 1 || (p.guard == 2 && o.most[i] == -INFINITY);
        float total = has_softmax ? o.sum[i] : is_empty ? INFINITY : NAN, part = 1 / total;

        if (row >= p.s)
            continue;
        if (at.column == 0 && thread.column == 0) {
            max[row * p.max.row] = o.most[i];
            sum[row * p.sum.row] = total;
        }
#pragma unroll
        for (int c = 0; c < TILES; c++)
#pragma unroll
            for (int j = 0; j < RT_EACH; j++) {
                int64_t column = at.column + c * RT_EDGE + thread.column + j;
                if (column < p.f)
                    rt_put(y[row * p.y.row + column * p.y.col],
                           has_softmax ? o.y[c][i][j] * part : part);
            }
    }
}

// Goes over the keys of a block's queries, within their limits or ALL.
template <int TILES, bool ALL, class T>
__device__ __forceinline__ void rt_attend(const RtCudaAttention &a,
                                          const RtCudaAttentionOperands &x, const RtQueries &at)
{
    __shared__ __align__(16) RtSlice<float> left, right;
    __shared__ __align__(16) RtScoreTile weights;
    const RtAttention &p = a.p;
    RtTilePosition thread = rt_tile_position(false);
    RtMasks m = rt_masks(p, at.b, at.g, x.bias, x.seed, x.step, x.micro);
    RtRange keys = rt_seen_keys(p, ALL, at.row);
    const T *q = (const T *)x.q + rt_head(p, p.q, at.b, at.g);
    const T *k = (const T *)x.k + rt_head(p, p.k, at.b, at.g);
    const T *v = (const T *)x.v + rt_head(p, p.v, at.b, at.g);
    RtOnline<TILES> o = {};

    for (int i = 0; i < RT_EACH; i++)
        o.most[i] = -INFINITY;
    for (int64_t key = keys.first; key < keys.last; key += RT_EDGE) {
        float s[RT_EACH][RT_EACH] = {};
        rt_multiply(s, thread, 0, p.e, rt_by_columns(rt_rows(q, p.q, at.row, p.s)),
                    rt_by_columns(rt_rows(k, p.k, key, p.t)), left, right);
        rt_softmax(p, m, ALL, at.row + thread.row, key + thread.column, s, o);
        rt_put_weights(a, m, thread, at.row, key, s, weights);
        __syncthreads();
        auto weight = rt_operand(true, [&](int i, int64_t t) { return (float)weights[i][t]; });
#pragma unroll
        for (int c = 0; c < TILES; c++)
            rt_multiply(o.y[c], thread, 0, rt_rows_left(p.t, key), weight,
                        rt_by_rows(rt_rows(v, p.v, key, p.t), at.column + c * RT_EDGE, p.f), left,
                        right);
    }
    rt_put_rows(p, at, thread, o, (T *)x.y + rt_head(p, p.y, at.b, at.g),
                x.max + rt_head(p, p.max, at.b, at.g), x.sum + rt_head(p, p.sum, at.b, at.g));
}

// For blocks of queries of which one isn't settled: computes their results again, with all keys.
template <class T>
__device__ __forceinline__ void rt_attend_all(const RtCudaAttention &a,
                                              const RtCudaAttentionOperands &x, const float *most)
{
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    RtQueries at = rt_queries<1>(a);
    int64_t row = at.row + threadIdx.x % RT_EDGE;
    float of_row = row < p.s ? x.max[rt_head(p, p.max, at.b, at.g) + row * p.max.row] : 0;
    float outside_most = rt_outside_most(p, most, at.b * a.groups + at.g);

    if (!rt_any(row < p.s && !rt_is_settled(of_row, outside_most), scratch))
        return;
#pragma unroll 1
    for (; at.column < p.f; at.column += RT_EDGE)
        rt_attend<1, true, T>(a, x, at);
}

// The largest norm of the rows that the block's threads share.
template <class T>
__device__ __forceinline__ float rt_largest_norm(const T *x, const RtStrides &s, int64_t rows,
                                                 int64_t columns, Shared<float[RT_WARP]> &scratch)
{
    auto larger = [](float a, float b) { return a != a || a > b ? a : b; };
    float most = 0;

    for (int64_t i = threadIdx.x; i < rows; i += RT_PRODUCT_BLOCK) {
        float sum = 0;
        for (int64_t j = 0; j < columns; j++)
            sum += rt_value(x[i * s.row + j * s.col]) * rt_value(x[i * s.row + j * s.col]);
        most = larger(sum, most);
    }
    return sqrtf(rt_block_join(most, 0.f, larger, scratch));
}

__device__ __forceinline__ float rt_largest_bias(const RtAttention &p, const float *bias,
                                                 Shared<float[RT_WARP]> &scratch)
{
    int64_t rows = p.bias.row ? p.s : 1, columns = p.bias.col ? p.t : 1;
    auto larger = [](float a, float b) { return a != a || a > b ? a : b; };
    float most = -INFINITY;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = threadIdx.x; j < columns; j += RT_PRODUCT_BLOCK)
            most = larger(bias[i * p.bias.row + j * p.bias.col], most);
    return rt_block_join(most, -INFINITY, larger, scratch);
}

// For the head of the block: an upper bound of its scores outside of limits.
template <class T>
__device__ __forceinline__ void rt_bounds(const RtCudaAttention &a, float *of_heads, const T *q,
                                          const T *k, const void *bias)
{
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    RtDivided at = rt_divide(blockIdx.x, a.groups);
    float most = rt_outside_most(p, nullptr, 0);

    if (p.outside_added) {  // 1.001: for the rounding of both norms and of the products
        float norms =
            rt_largest_norm(q + rt_head(p, p.q, at.quotient, at.rest), p.q, p.s, p.e, scratch);
        norms *= rt_largest_norm(k + rt_head(p, p.k, at.quotient, at.rest), p.k, p.t, p.e, scratch);
        most += 1.001f * fabsf(p.scale) * norms;
    }
    if (p.has_bias && !p.bool_bias)
        most += rt_largest_bias(p, (const float *)bias + rt_head(p, p.bias, at.quotient, at.rest),
                                scratch);
    if (threadIdx.x == 0)
        of_heads[blockIdx.x] = most;
}

#define RT_ATTENTION_OF(T, name)                                                                   \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK) rt_cuda_attention_all_##name(   \
        RtCudaAttention a, RtCudaAttentionOperands x, const float *most)                           \
    {                                                                                              \
        rt_attend_all<T>(a, x, most);                                                              \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_all_##name);
RT_CUDA_EACH_ATTENTION(RT_ATTENTION_OF)

#define RT_ATTENTION_BOUNDS(T, name)                                                               \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_attention_bounds_##name(RtCudaAttention a, float *of_heads, const T *q,            \
                                        const T *k, const void *bias)                              \
    {                                                                                              \
        rt_bounds(a, of_heads, q, k, bias);                                                        \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_bounds_##name);
RT_CUDA_EACH_PRODUCT(RT_ATTENTION_BOUNDS)

// Lists of types pass a type alone, so each width has a macro of its own.
#define RT_ATTENTION_WIDE(tiles, T, name)                                                          \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_attention_##tiles##_##name(RtCudaAttention a, RtCudaAttentionOperands x)           \
    {                                                                                              \
        rt_attend<tiles, false, T>(a, x, rt_queries<tiles>(a));                                    \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_##tiles##_##name);
#define RT_ATTENTION_1(T, name) RT_ATTENTION_WIDE(1, T, name)
#define RT_ATTENTION_2(T, name) RT_ATTENTION_WIDE(2, T, name)
#define RT_ATTENTION(tiles) RT_CUDA_EACH_ATTENTION(RT_ATTENTION_##tiles)
RT_CUDA_EACH_WIDTH(RT_ATTENTION)
