// Shared by attention and its gradient: tiles of 64 x 64 scores, the weights that dropout keeps,
// and the operands of a head.
#ifndef SHARDCC_RT_CUDA_SCORES_CUH
#define SHARDCC_RT_CUDA_SCORES_CUH

#include "runtime/cuda/math.cuh"
#include "runtime/cuda/product.cuh"

// Scores or weights of a tile, by query and key.
typedef Shared<float[RT_EDGE][RT_SLICE]> RtScoreTile;

__device__ __forceinline__ int64_t rt_entry(int n, const int64_t *dim, const int64_t *stride,
                                            int64_t i)
{
    int64_t at = 0;

#pragma unroll 1
    for (int k = n - 1; k >= 0; k--) {
        RtDivided d = rt_divide(i, dim[k]);
        at += d.rest * stride[k];
        i = d.quotient;
    }
    return at;
}

// Offset of an operand at batch entry b and group g.
__device__ __forceinline__ int64_t rt_head(const RtAttention &p, const RtStrides &s, int64_t b,
                                           int64_t g)
{
    return rt_entry(p.n_batch, p.batch, s.batch, b) + rt_entry(p.n_group, p.group, s.group, g);
}

// Rows of an operand: element (row + i, k) is at(i, k), 0 from row `last` and column `columns` on.
template <class T> struct RtRows {
    const T *at;
    int64_t row, last, row_stride, col_stride;
};
template <class T>
__device__ __forceinline__ RtRows<T> rt_rows(const T *at, const RtStrides &s, int64_t row,
                                             int64_t last)
{
    return {at, row, last, s.row, s.col};
}
// The operand of a product whose terms are the columns.
template <class T> __device__ __forceinline__ auto rt_by_columns(const RtRows<T> &r)
{
    return rt_operand(r.col_stride == 1, [=](int i, int64_t k) {
        int64_t row = r.row + i;
        return row < r.last ? rt_value(r.at[row * r.row_stride + k * r.col_stride]) : 0;
    });
}
// The operand of a product whose terms are the rows, up to the last one; its own rows are the
// columns from `first` on.
template <class T>
__device__ __forceinline__ auto rt_by_rows(const RtRows<T> &r, int64_t first, int64_t columns)
{
    return rt_operand(r.col_stride != 1, [=](int i, int64_t k) {
        int64_t row = r.row + k, column = first + i;
        return column < columns ? rt_value(r.at[row * r.row_stride + column * r.col_stride]) : 0;
    });
}

// The rows of a tile that begins at `first`.
__device__ __forceinline__ int64_t rt_rows_left(int64_t last, int64_t first)
{
    return last - first < (int64_t)RT_EDGE ? last - first : (int64_t)RT_EDGE;
}

// The first keys or queries that a tile of the others needs, in whole tiles, and where they end.
// `all`: as if there were no limits.
struct RtRange {
    int64_t first, last;
};
__device__ __forceinline__ RtRange rt_seen_keys(const RtAttention &p, bool all, int64_t row,
                                                int rows = RT_EDGE)
{
    RtRange k = {0, p.t};
    int64_t end = row + rows;

    if (all)
        return k;
    if (p.causal && p.window > 0 && row + p.offset >= p.window)
        k.first = (row + p.offset - p.window + 1) / RT_EDGE * RT_EDGE;
    if (p.causal && end + p.offset < p.t)
        k.last = end + p.offset;
    return k;
}
__device__ __forceinline__ RtRange rt_seeing_rows(const RtAttention &p, int64_t key)
{
    RtRange q = {0, p.s};
    int64_t end = key + RT_EDGE;

    if (p.causal && key > p.offset)
        q.first = (key - p.offset) / RT_EDGE * RT_EDGE;
    if (p.causal && p.window > 0 && end - 1 - p.offset + p.window < p.s)
        q.last = end - 1 - p.offset + p.window;
    return q;
}

// The operands that a head's scores need in addition to q and k.
struct RtMasks {
    const void *bias;
    uint64_t drop_key;
    int64_t drop_at;  // the index of the head's first score
};
__device__ __forceinline__ RtMasks rt_masks(const RtAttention &p, int64_t b, int64_t g,
                                            const void *bias, const int64_t *seed,
                                            const int64_t *step, const int64_t *micro)
{
    RtMasks m = {nullptr, 0, 0};

    if (p.has_bias)
        m.bias = (const char *)bias + rt_head(p, p.bias, b, g) * (p.bool_bias ? 1 : 4);
    if (p.drops) {
        m.drop_key = rt_key(*seed, *step);
        m.drop_at = p.drop_at + *micro * p.micro_step + rt_head(p, p.drop, b, g);
    }
    return m;
}

__device__ __forceinline__ bool rt_is_outside(const RtAttention &p, int64_t row, int64_t key)
{
    return p.causal && (key > row + p.offset || (p.window > 0 && key <= row + p.offset - p.window));
}

__device__ __forceinline__ float rt_mask_number(float x) { return x == 0 ? -INFINITY : x; }

// A score and whether a mask's number replaced it.
struct RtScore {
    float s;
    bool is_set;
};

// A product as a score: times scale, with bias and limits. Without `all`, and for rows and keys
// that there aren't, -inf outside of limits.
__device__ __forceinline__ RtScore rt_score(const RtAttention &p, const RtMasks &m, bool all,
                                            float product, int64_t row, int64_t key)
{
    float s = product * p.scale, bias = 0;
    bool is_outside = rt_is_outside(p, row, key), is_hidden = false;

    if (row >= p.s || key >= p.t || (is_outside && !all))
        return {-INFINITY, false};
    if (p.has_bias) {
        int64_t at = row * p.bias.row + key * p.bias.col;
        if (p.bool_bias)
            is_hidden = !((const uint8_t *)m.bias)[at];
        else
            bias = ((const float *)m.bias)[at];
    }
    bool is_first = is_outside && p.order == RT_LIMITS_FIRST;
    bool is_last = is_outside && !is_first && !(p.order == RT_MASKED_ONCE && is_hidden);
    if (is_first)
        s = rt_mask_number(p.outside) + (p.outside_added ? s : 0);
    if (is_hidden)
        s = rt_mask_number(p.hidden) + (p.hidden_added ? s : 0);
    s += bias;
    if (is_last)
        s = rt_mask_number(p.outside) + (p.outside_added ? s : 0);
    return {s, (is_hidden && !p.hidden_added) || (is_outside && !p.outside_added)};
}

// ---- keys outside of limits ----
// They count only if the query sees no key whose score is far above theirs: else their weights are
// exactly 0. So kernels go over the keys within the limits of a block's queries, and over all keys
// if one of the queries isn't settled.

// An upper bound of the scores of a head's keys outside of limits.
__device__ __forceinline__ float rt_outside_most(const RtAttention &p, const float *of_heads,
                                                 int64_t head)
{
    float number = rt_mask_number(p.outside), hidden = rt_mask_number(p.hidden);

    if (of_heads)
        return of_heads[head];
    return p.bool_bias && hidden > number ? hidden : number;
}

// Has a row whose scores have the maximum `max` no weight outside of its limits?
__device__ __forceinline__ bool rt_is_settled(float max, float outside_most)
{
    return max < INFINITY && max - outside_most > 88;
}

// Is the claim true for a thread of the block?
__device__ __forceinline__ bool rt_any(bool is, Shared<float[RT_WARP]> &scratch)
{
    return rt_block_join(
               is ? 1.f : 0.f, 0.f, [](float a, float b) { return a > b ? a : b; }, scratch) != 0;
}

// Have keys outside of the limits of the queries from `row` on weights, RT_EDGE of a head's? All
// threads get the answer.
__device__ __forceinline__ bool rt_rows_need_all(const RtAttention &p, const RtCudaQuery *queries,
                                                 int64_t row, Shared<float[RT_WARP]> &scratch)
{
    int64_t i = row + threadIdx.x % RT_EDGE;

    if (!p.causal)
        return false;
    return rt_any(i < p.s && queries[i].needs_all != 0, scratch);
}

// The same of all queries of batch entry b, which are `rows`.
__device__ __forceinline__ bool rt_batch_needs_all(const RtCudaQuery *queries, int64_t b,
                                                   int64_t rows, int threads,
                                                   Shared<float[RT_WARP]> &scratch)
{
    bool any = false;

    for (int64_t i = threadIdx.x; i < rows; i += threads)
        any |= queries[b * rows + i].needs_all != 0;
    return rt_any(any, scratch);
}

// The numbers that its gradient needs of a head's query with this d, and this maximum and sum of
// scores.
__device__ __forceinline__ RtCudaQuery rt_query_of(const RtAttention &p, float d, float max,
                                                   float sum, const float *outside_most,
                                                   int64_t head)
{
    float part = sum == 0 ? 0 : 1 / sum;  // a row of padding has the sum 0, and no weights
    bool is_settled = part == 0 || rt_is_settled(max, rt_outside_most(p, outside_most, head));

    return {d, max, part, p.causal && !is_settled ? 1.f : 0.f};
}

// The factors of dropout of RT_EACH keys from `key` on. A block of random numbers is drawn again
// only where the next element isn't in it.
__device__ __forceinline__ void rt_drop(const RtCudaAttention &a, const RtMasks &m, int64_t row,
                                        int64_t key, float (&factor)[RT_EACH])
{
    const RtAttention &p = a.p;
    uint64_t drawn = UINT64_MAX;
    uint32_t c[4] = {};

#pragma unroll
    for (int j = 0; j < RT_EACH; j++) {
        uint64_t e = (uint64_t)(m.drop_at + row * p.drop.row + (key + j) * p.drop.col);
        if (e / 4 != drawn)
            rt_draw(c, m.drop_key, p.site, p.layer, e / 4);
        drawn = e / 4;
        uint32_t even = e & 2 ? c[2] : c[0], odd = e & 2 ? c[3] : c[1];
        factor[j] = (e & 1 ? odd : even) >> 8 < a.least ? 0 : a.factor;
    }
}

// Combines the values of the 16 threads that share a row of a tile.
template <class Join> __device__ __forceinline__ float rt_row_join(float x, Join join)
{
    for (int k = RT_EDGE / RT_EACH / 2; k; k /= 2)
        x = join(x, rt_swap_lanes(x, k));
    return x;
}

#endif
