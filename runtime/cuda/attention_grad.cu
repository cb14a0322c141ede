// Gradients of attention. Probabilities are recomputed from the log-sum-exp of each query (Dao et
// al. 2022). With p = exp(scores - lse) and D = Σ dy y of a query:
//     dv = p' dy,   ds = p (dy v' - D) scale,   dq = ds k,   dk = ds' q,
// and with dropout, which multiplies p by m,   dv = (p m)' dy,   ds = p (m dy v' - D) scale.
// A kernel goes over the queries for each tile of keys, another over the keys for each tile of
// queries; both recompute the tile's scores, so that nobody adds to another block's results.
#include "runtime/cuda/scores.cuh"

// The operands of one head; `sums`: D of its queries.
struct RtGradHead {
    const float *q, *k, *v, *lse, *dy, *sums;
    RtMasks masks;
};
__device__ __forceinline__ RtGradHead rt_grad_head(const RtCudaAttention &a,
                                                   const RtCudaGradOperands &x, int64_t b,
                                                   int64_t g)
{
    const RtAttention &p = a.p;

    return {x.q + rt_head(p, p.q, b, g),
            x.k + rt_head(p, p.k, b, g),
            x.v + rt_head(p, p.v, b, g),
            x.lse + rt_head(p, p.lse, b, g),
            x.dy + rt_head(p, p.dy, b, g),
            x.sums + (b * a.groups + g) * p.s,
            rt_masks(p, b, g, x.bias, x.seed, x.step, x.micro)};
}

// Turns products into weights and ds, for rows and keys from `row` and `key` on. A query that sees
// no key has weights of 0.
__device__ __forceinline__ void rt_grad_weights(const RtCudaAttention &a, const RtGradHead &h,
                                                int64_t row, int64_t key,
                                                float (&s)[RT_EACH][RT_EACH],
                                                float (&ds)[RT_EACH][RT_EACH])
{
    const RtAttention &p = a.p;

#pragma unroll
    for (int i = 0; i < RT_EACH; i++) {
        bool is_inside = row + i < p.s;
        float lse = is_inside ? h.lse[(row + i) * p.lse.row] : -INFINITY;
        float sum = is_inside ? h.sums[row + i] : 0, factor[RT_EACH] = {1, 1, 1, 1};

        lse = lse == -INFINITY ? INFINITY : lse;
        if (p.drops)
            rt_drop(a, h.masks, row + i, key, factor);
#pragma unroll
        for (int j = 0; j < RT_EACH; j++) {
            float weight = rt_exp_lowf(rt_score(p, h.masks, s[i][j], row + i, key + j) - lse);
            float dp = p.drops ? factor[j] * ds[i][j] : ds[i][j];
            s[i][j] = p.drops ? weight * factor[j] : weight;
            ds[i][j] = weight * (dp - sum) * p.scale;
        }
    }
}

// Computes the weights and ds of a tile of queries and keys into shared memory. `weights` may be
// left out.
__device__ __forceinline__ void rt_grad_tile(const RtCudaAttention &a, const RtGradHead &h,
                                             RtPlace place, int64_t row, int64_t key,
                                             RtSlice<float> &left, RtSlice<float> &right,
                                             RtScoreTile *weights, RtScoreTile &changes)
{
    const RtAttention &p = a.p;
    float s[RT_EACH][RT_EACH] = {}, ds[RT_EACH][RT_EACH] = {};

    rt_multiply(s, place, 0, p.e, rt_by_columns(rt_rows(h.q, p.q, row, p.s)),
                rt_by_columns(rt_rows(h.k, p.k, key, p.t)), left, right);
    rt_multiply(ds, place, 0, p.f, rt_by_columns(rt_rows(h.dy, p.dy, row, p.s)),
                rt_by_columns(rt_rows(h.v, p.v, key, p.t)), left, right);
    rt_grad_weights(a, h, row + place.row, key + place.column, s, ds);
#pragma unroll
    for (int i = 0; i < RT_EACH; i++)
#pragma unroll
        for (int j = 0; j < RT_EACH; j++) {
            if (weights)
                (*weights)[place.row + i][place.column + j] = s[i][j];
            changes[place.row + i][place.column + j] = ds[i][j];
        }
    __syncthreads();
}

// Stores a thread's results of some tiles of columns.
template <int TILES>
__device__ __forceinline__ void
rt_put_grad(float *to, const RtStrides &s, RtPlace place, int64_t row, int64_t rows, int64_t column,
            int64_t columns, const float (&sum)[TILES][RT_EACH][RT_EACH])
{
#pragma unroll
    for (int c = 0; c < TILES; c++)
        rt_each_result(sum[c], place, [&](int i, int j, float v) {
            int64_t y = row + i, x = column + c * RT_EDGE + j;
            if (y < rows && x < columns)
                to[y * s.row + x * s.col] = v;
        });
}

// dk and dv of a tile of keys, of some columns: over all queries of all groups that see them.
template <int TILES>
__device__ __forceinline__ void rt_grad_keys(const RtCudaAttention &a, const RtCudaGradOperands &x)
{
    __shared__ __align__(16) RtSlice<float> left, right;
    __shared__ __align__(16) RtScoreTile weights, changes;
    const RtAttention &p = a.p;
    RtDivided c = rt_divide(blockIdx.x, a.columns), t = rt_divide(c.quotient, a.tiles);
    int64_t b = t.quotient, key = t.rest * RT_EDGE, column = c.rest * RT_EDGE * TILES;
    RtPlace place = rt_place(false);
    RtRange rows = rt_seeing_rows(p, key);
    float dk[TILES][RT_EACH][RT_EACH] = {}, dv[TILES][RT_EACH][RT_EACH] = {};
    auto weight = rt_operand(false, [&](int i, int64_t k) { return (float)weights[k][i]; });
    auto change = rt_operand(false, [&](int i, int64_t k) { return (float)changes[k][i]; });

    for (int64_t g = 0; g < a.groups; g++) {
        RtGradHead h = rt_grad_head(a, x, b, g);
        for (int64_t row = rows.first; row < rows.last; row += RT_EDGE) {
            rt_grad_tile(a, h, place, row, key, left, right, &weights, changes);
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                int64_t first = column + i * RT_EDGE, n = rt_rows_left(p.s, row);
                rt_multiply(dv[i], place, 0, n, weight,
                            rt_by_rows(rt_rows(h.dy, p.dy, row, p.s), first, p.f), left, right);
                rt_multiply(dk[i], place, 0, n, change,
                            rt_by_rows(rt_rows(h.q, p.q, row, p.s), first, p.e), left, right);
            }
        }
    }
    rt_put_grad(x.dk + rt_head(p, p.dk, b, 0), p.dk, place, key, p.t, column, p.e, dk);
    rt_put_grad(x.dv + rt_head(p, p.dv, b, 0), p.dv, place, key, p.t, column, p.f, dv);
}

// dq of a tile of queries, of some columns: over all keys that they see.
template <int TILES>
__device__ __forceinline__ void rt_grad_queries(const RtCudaAttention &a,
                                                const RtCudaGradOperands &x)
{
    __shared__ __align__(16) RtSlice<float> left, right;
    __shared__ __align__(16) RtScoreTile changes;
    const RtAttention &p = a.p;
    RtDivided c = rt_divide(blockIdx.x, a.columns), t = rt_divide(c.quotient, a.tiles);
    RtDivided g = rt_divide(t.quotient, a.groups);
    int64_t row = t.rest * RT_EDGE, column = c.rest * RT_EDGE * TILES;
    RtPlace place = rt_place(false);
    RtRange keys = rt_seen_keys(p, row);
    RtGradHead h = rt_grad_head(a, x, g.quotient, g.rest);
    float dq[TILES][RT_EACH][RT_EACH] = {};
    auto change = rt_operand(true, [&](int i, int64_t k) { return (float)changes[i][k]; });

    for (int64_t key = keys.first; key < keys.last; key += RT_EDGE) {
        rt_grad_tile(a, h, place, row, key, left, right, nullptr, changes);
#pragma unroll
        for (int i = 0; i < TILES; i++)
            rt_multiply(dq[i], place, 0, rt_rows_left(p.t, key), change,
                        rt_by_rows(rt_rows(h.k, p.k, key, p.t), column + i * RT_EDGE, p.e), left,
                        right);
    }
    rt_put_grad(x.dq + rt_head(p, p.dq, g.quotient, g.rest), p.dq, place, row, p.s, column, p.e,
                dq);
}

// D of each query, [batch, group, s]: added up as a tile adds up dy·v, so that the two are equal
// where softmax has chosen one key and y is its v. Their difference, times keys and queries, is the
// gradient.
extern "C" __global__ void rt_cuda_attention_sums(RtCudaAttention a, float *sums, const float *y,
                                                  const float *dy)
{
    const RtAttention &p = a.p;
    int64_t i = (int64_t)blockIdx.x * RT_PRODUCT_BLOCK + threadIdx.x;
    RtDivided row = rt_divide(i, p.s), g = rt_divide(row.quotient, a.groups);

    if (i >= a.tiles)
        return;
    const float *from = y + rt_head(p, p.y, g.quotient, g.rest) + row.rest * p.y.row;
    const float *by = dy + rt_head(p, p.dy, g.quotient, g.rest) + row.rest * p.dy.row;
    float sum = 0;
    for (int64_t k = 0; k < p.f; k++)
        sum = fmaf(from[k * p.y.col], by[k * p.dy.col], sum);
    sums[i] = sum;
}
RT_ENTRY(rt_cuda_attention_sums);

#define RT_ATTENTION_GRAD(tiles)                                                                   \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_attention_keys_##tiles(RtCudaAttention a, RtCudaGradOperands x)                    \
    {                                                                                              \
        rt_grad_keys<tiles>(a, x);                                                                 \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_keys_##tiles);                                                      \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_attention_queries_##tiles(RtCudaAttention a, RtCudaGradOperands x)                 \
    {                                                                                              \
        rt_grad_queries<tiles>(a, x);                                                              \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_queries_##tiles);
RT_CUDA_EACH_WIDTH(RT_ATTENTION_GRAD)
