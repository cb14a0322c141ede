// Attention: dropout(softmax(scale · q·k + bias)) · v, without storing rows of scores. A block goes
// over tiles of keys for 64 queries, each of which keeps its maximum and its sum so far (online
// softmax: Milakov and Gimelshein 2018; tiled: Dao et al., "FlashAttention", 2022).
#include "runtime/cuda/scores.cuh"

// A thread's rows: maximum and sum so far, and the results up to a factor.
template <int TILES> struct RtOnline {
    float most[RT_EACH], sum[RT_EACH], y[TILES][RT_EACH][RT_EACH];
};

// Turns products into weights for the rows, relative to their maxima, and rescales what was there.
template <int TILES>
__device__ __forceinline__ void rt_softmax(const RtAttention &p, const RtMasks &m, int64_t row,
                                           int64_t key, float (&s)[RT_EACH][RT_EACH],
                                           RtOnline<TILES> &o)
{
#pragma unroll
    for (int i = 0; i < RT_EACH; i++) {
        auto larger = [](float a, float b) { return a != a || a > b ? a : b; };
        float most = -INFINITY, sum = 0;

#pragma unroll
        for (int j = 0; j < RT_EACH; j++) {
            s[i][j] = rt_score(p, m, s[i][j], row + i, key + j);
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
                                               RtPlace at, int64_t row, int64_t key,
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

template <int TILES>
__device__ __forceinline__ void rt_put_result(const RtAttention &p, const RtQueries &at,
                                              RtPlace place, const RtOnline<TILES> &o, float *y,
                                              float *lse)
{
#pragma unroll
    for (int i = 0; i < RT_EACH; i++) {
        int64_t row = at.row + place.row + i;
        float factor = o.sum[i] == 0 ? 0 : 1 / o.sum[i];

        if (row >= p.s)
            continue;
        if (at.column == 0 && place.column == 0)
            lse[row * p.lse.row] = o.sum[i] == 0 ? -INFINITY : o.most[i] + rt_logf(o.sum[i]);
#pragma unroll
        for (int c = 0; c < TILES; c++)
#pragma unroll
            for (int j = 0; j < RT_EACH; j++) {
                int64_t column = at.column + c * RT_EDGE + place.column + j;
                if (column < p.f)
                    y[row * p.y.row + column * p.y.col] = o.y[c][i][j] * factor;
            }
    }
}

struct RtAttentionOperands {
    float *y, *lse;
    const float *q, *k, *v;
    const void *bias;
    const int64_t *seed, *step, *micro;
};

template <int TILES>
__device__ __forceinline__ void rt_attend(const RtCudaAttention &a, const RtAttentionOperands &x)
{
    __shared__ __align__(16) RtSlice<float> left, right;
    __shared__ __align__(16) RtScoreTile weights;
    const RtAttention &p = a.p;
    RtQueries at = rt_queries<TILES>(a);
    RtPlace place = rt_place(false);
    RtMasks m = rt_masks(p, at.b, at.g, x.bias, x.seed, x.step, x.micro);
    RtRange keys = rt_seen_keys(p, at.row);
    const float *q = x.q + rt_head(p, p.q, at.b, at.g), *k = x.k + rt_head(p, p.k, at.b, at.g);
    const float *v = x.v + rt_head(p, p.v, at.b, at.g);
    RtOnline<TILES> o = {};

    for (int i = 0; i < RT_EACH; i++)
        o.most[i] = -INFINITY;
    for (int64_t key = keys.first; key < keys.last; key += RT_EDGE) {
        float s[RT_EACH][RT_EACH] = {};
        rt_multiply(s, place, 0, p.e, rt_by_columns(rt_rows(q, p.q, at.row, p.s)),
                    rt_by_columns(rt_rows(k, p.k, key, p.t)), left, right);
        rt_softmax(p, m, at.row + place.row, key + place.column, s, o);
        rt_put_weights(a, m, place, at.row, key, s, weights);
        __syncthreads();
        auto weight = rt_operand(true, [&](int i, int64_t t) { return (float)weights[i][t]; });
#pragma unroll
        for (int c = 0; c < TILES; c++)
            rt_multiply(o.y[c], place, 0, rt_rows_left(p.t, key), weight,
                        rt_by_rows(rt_rows(v, p.v, key, p.t), at.column + c * RT_EDGE, p.f), left,
                        right);
    }
    rt_put_result(p, at, place, o, x.y + rt_head(p, p.y, at.b, at.g),
                  x.lse + rt_head(p, p.lse, at.b, at.g));
}

#define RT_ATTENTION(tiles)                                                                        \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK) rt_cuda_attention_##tiles(      \
        RtCudaAttention a, float *y, float *lse, const float *q, const float *k, const float *v,   \
        const void *bias, const int64_t *seed, const int64_t *step, const int64_t *micro)          \
    {                                                                                              \
        rt_attend<tiles>(a, {y, lse, q, k, v, bias, seed, step, micro});                           \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_##tiles);
RT_CUDA_EACH_WIDTH(RT_ATTENTION)
