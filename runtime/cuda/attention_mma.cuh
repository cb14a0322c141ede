// Attention of halves on tensor cores. A warp has 16 or 32 queries in registers, with their
// results, and goes over tiles of keys and values (after Dao, "FlashAttention-2", 2023). Products
// are added up in f32; weights, at most 1 before their division by the sum, are rounded to halves
// before they are multiplied.
#ifndef SHARDCC_RT_CUDA_ATTENTION_MMA_CUH
#define SHARDCC_RT_CUDA_ATTENTION_MMA_CUH

#include "runtime/cuda/fragments.cuh"

// A lane's two queries: the maximum so far, and the sum of the lane's own weights.
struct RtTensorRows {
    float most[2], sum[2];
};

// Turns scores into weights, relative to their maxima, and rescales the results so far.
template <int N, int COLUMNS>
__device__ __forceinline__ void rt_softmax_fragments(float (&s)[N][4], RtTensorRows &o,
                                                     float (&y)[COLUMNS][4])
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float most = o.most[h], sum = 0;

#pragma unroll
        for (int n = 0; n < N; n++)
            most = rt_larger(most, rt_larger(s[n][2 * h], s[n][2 * h + 1]));
#pragma unroll
        for (int k = 1; k < 4; k *= 2)
            most = rt_larger(most, rt_swap_lanes(most, k));
        float shift = most == -INFINITY ? 0 : most, keep = rt_exp_difference(o.most[h], shift);
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 2 * h; i < 2 * h + 2; i++) {
                s[n][i] = rt_exp_difference(s[n][i], shift);
                sum += s[n][i];
            }
        o.sum[h] = o.sum[h] * keep + sum;
        o.most[h] = most;
#pragma unroll
        for (int n = 0; n < COLUMNS; n++) {
            y[n][2 * h] *= keep;
            y[n][2 * h + 1] *= keep;
        }
    }
}

// Dropout of weights.
template <int N>
__device__ __forceinline__ void rt_drop_fragments(const RtCudaAttention &a, const RtMasks &m,
                                                  const RtCorner &at, float (&s)[N][4])
{
    uint32_t kept = rt_kept<false, N>(a, m, at);

#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            s[n][i] = kept >> (4 * n + i) & 1 ? s[n][i] * a.factor : 0;
}

// Stores what 16 queries from `row` on have found.
template <int COLUMNS, class T>
__device__ __forceinline__ void rt_put_queries(const RtAttention &p, int row, const RtTensorRows &o,
                                               const float (&x)[COLUMNS][4], const RtHalves<T> &y,
                                               float *max, float *sum)
{
    float part[2];
    bool has_softmax[2];

#pragma unroll
    for (int h = 0; h < 2; h++) {
        int r = row + rt_sum_row(2 * h);
        float total = o.sum[h];
#pragma unroll
        for (int k = 1; k < 4; k *= 2)
            total += rt_swap_lanes(total, k);
        bool is_empty = p.t == 0 || p.guard == 1 || (p.guard == 2 && o.most[h] == -INFINITY);
        has_softmax[h] = o.most[h] != -INFINITY && total == total;
        total = has_softmax[h] ? total : is_empty ? INFINITY : NAN;
        part[h] = 1 / total;
        if (r < p.s && rt_lane() % 4 == 0) {
            max[r * p.max.row] = o.most[h];
            sum[r * p.sum.row] = total;
        }
    }
    rt_put_rounded<COLUMNS>(y, row, [&](int n, int i) {
        return has_softmax[i / 2] ? x[n][i] * part[i / 2] : part[i / 2];
    });
}

// Have keys outside of the limits of the block's queries weights? All threads get the answer.
__device__ __forceinline__ bool rt_block_needs_all(const RtAttention &p, int row, int rows,
                                                   const float *max, float outside_most,
                                                   Shared<float[RT_WARP]> &scratch)
{
    int i = row + (int)threadIdx.x % rows;

    return rt_any(i < p.s && !rt_is_settled(max[i * p.max.row], outside_most), scratch);
}

// The queries of a block: those with the most keys come first. `again`: results of blocks with
// queries that aren't settled are computed anew, with all keys. IS_PLAIN: there is no bias and no
// dropout, nor `again`; without these, registers suffice for twice as many queries.
template <int TILES, bool IS_PLAIN, class T>
__device__ __forceinline__ void rt_attend_tensor(const RtCudaAttention &a,
                                                 const RtCudaAttentionOperands &x,
                                                 const float *outside_most, bool again)
{
    enum {
        WIDE = RT_EDGE * TILES,
        KEYS = RT_EDGE / TILES,
        M = IS_PLAIN ? 2 / TILES : 1,
        ROWS = RT_TENSOR_ROWS * M,  // of a warp
        BLOCK_ROWS = RT_EDGE * M
    };
    __shared__ __align__(16) RtStream<KEYS, WIDE> stream;
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    RtDivided t = rt_divide(blockIdx.x, a.tiles), head = rt_divide(t.quotient, a.groups);
    int64_t b = head.quotient, g = head.rest;
    int first = (int)(a.tiles - 1 - t.rest) * BLOCK_ROWS, row = first + rt_warp() * ROWS;

    if (!IS_PLAIN && again &&
        !rt_block_needs_all(p, first, BLOCK_ROWS, x.max + rt_head(p, p.max, b, g),
                            rt_outside_most(p, outside_most, t.quotient), scratch))
        return;
    RtMasks masks = IS_PLAIN ? RtMasks{} : rt_masks(p, b, g, x.bias, x.seed, x.step, x.micro);
    RtHalves<T> q = rt_halves<T>(x.q, p.q, rt_head(p, p.q, b, g), p.s, p.e);
    RtHalves<T> k = rt_halves<T>(x.k, p.k, rt_head(p, p.k, b, g), p.t, p.e);
    RtHalves<T> v = rt_halves<T>(x.v, p.v, rt_head(p, p.v, b, g), p.t, p.f);
    RtRange keys = rt_seen_keys(p, again, first, BLOCK_ROWS);
    uint32_t left[M][WIDE / 16][4];
    float y[M][WIDE / 8][4] = {};
    RtTensorRows o[M] = {};

#pragma unroll
    for (int m = 0; m < M; m++) {
        rt_load_left(left[m], q, row + RT_TENSOR_ROWS * m);
        o[m].most[0] = o[m].most[1] = -INFINITY;
    }
    rt_each_pair<KEYS, WIDE>(stream, keys, k, v,
                             [&](int key, RtTile<KEYS, WIDE> &of_k, RtTile<KEYS, WIDE> &of_v) {
                                 float s[M][KEYS / 8][4] = {};
                                 uint32_t weights[M][KEYS / 16][4];

                                 if (!again && p.causal && key > row + ROWS - 1 + p.offset)
                                     return;
                                 rt_multiply_rows<T, KEYS, WIDE>(s, left, of_k, 0);
#pragma unroll
                                 for (int m = 0; m < M; m++) {
                                     RtCorner at = {row + RT_TENSOR_ROWS * m, key};
                                     rt_score_fragments<false, IS_PLAIN>(p, masks, again, at, s[m]);
                                     rt_softmax_fragments(s[m], o[m], y[m]);
                                     if (!IS_PLAIN && p.drops)
                                         rt_drop_fragments(a, masks, at, s[m]);
                                     rt_round<T>(weights[m], s[m]);
                                 }
                                 rt_multiply_columns<T, KEYS, WIDE>(y, weights, of_v, 0);
                             });
    RtHalves<T> to = rt_halves<T>(x.y, p.y, rt_head(p, p.y, b, g), p.s, p.f);
    float *max = x.max + rt_head(p, p.max, b, g), *sum = x.sum + rt_head(p, p.sum, b, g);
#pragma unroll
    for (int m = 0; m < M; m++)
        rt_put_queries(p, row + RT_TENSOR_ROWS * m, o[m], y[m], to, max, sum);
}

// Lists of types pass a type alone, so each width has a macro of its own.
#define RT_ATTENTION_TENSOR_WIDE(tiles, T, name)                                                   \
    extern "C" __global__ void __launch_bounds__(RT_TENSOR_BLOCK)                                  \
        rt_cuda_attention_tensor_plain_##tiles##_##name(RtCudaAttention a,                         \
                                                        RtCudaAttentionOperands x)                 \
    {                                                                                              \
        rt_attend_tensor<tiles, true, T>(a, x, nullptr, false);                                    \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_tensor_plain_##tiles##_##name);                                     \
    extern "C" __global__ void __launch_bounds__(RT_TENSOR_BLOCK)                                  \
        rt_cuda_attention_tensor_##tiles##_##name(RtCudaAttention a, RtCudaAttentionOperands x,    \
                                                  const float *outside_most, bool again)           \
    {                                                                                              \
        rt_attend_tensor<tiles, false, T>(a, x, outside_most, again);                              \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_tensor_##tiles##_##name);
#define RT_ATTENTION_TENSOR_1(T, name) RT_ATTENTION_TENSOR_WIDE(1, T, name)
#define RT_ATTENTION_TENSOR_2(T, name) RT_ATTENTION_TENSOR_WIDE(2, T, name)
#define RT_ATTENTION_TENSOR(tiles) RT_CUDA_EACH_TENSOR(RT_ATTENTION_TENSOR_##tiles)
RT_CUDA_EACH_WIDTH(RT_ATTENTION_TENSOR)

#endif
