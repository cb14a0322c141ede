// Gradients of attention. Probabilities are recomputed from each query's maximum and sum, which
// gives them the bits that they had (after Dao et al. 2022, who keep the logarithm of the sum: its
// bits are lost next to a large maximum). With p = exp(scores - max) / sum and D = Σ dy y of a
// query:
//     dv = p' dy,   ds = p (dy v' - D) scale,   dq = ds k,   dk = ds' q,
// and with dropout, which multiplies p by m,   dv = (p m)' dy,   ds = p (m dy v' - D) scale.
// A kernel goes over the queries for each tile of keys, another over the keys for each tile of
// queries; both recompute the tile's scores, so that nobody adds to another block's results.
#include "runtime/cuda/attention_grad_mma.cuh"
#include "runtime/cuda/scores.cuh"

// The operands of one head.
template <class T> struct RtGradHead {
    const T *q, *k, *v, *dy;
    const RtCudaQuery *queries;
    RtMasks masks;
};
template <class T>
__device__ __forceinline__ RtGradHead<T>
rt_grad_head(const RtCudaAttention &a, const RtCudaGradOperands &x, int64_t b, int64_t g)
{
    const RtAttention &p = a.p;

    return {
        (const T *)x.q + rt_head(p, p.q, b, g), (const T *)x.k + rt_head(p, p.k, b, g),
        (const T *)x.v + rt_head(p, p.v, b, g), (const T *)x.dy + rt_head(p, p.dy, b, g),
        x.queries + (b * a.groups + g) * p.s,   rt_masks(p, b, g, x.bias, x.seed, x.step, x.micro)};
}

// Turns products into weights and ds, for rows and keys from `row` and `key` on. Where a row has no
// weights, `part` is 0, whatever its scores are, or NaN.
template <class T>
__device__ __forceinline__ void
rt_grad_weights(const RtCudaAttention &a, const RtGradHead<T> &h, bool all, int64_t row,
                int64_t key, float (&s)[RT_EACH][RT_EACH], float (&ds)[RT_EACH][RT_EACH])
{
    const RtAttention &p = a.p;

#pragma unroll
    for (int i = 0; i < RT_EACH; i++) {
        RtCudaQuery query = {0, 0, 0, 0};
        float factor[RT_EACH] = {1, 1, 1, 1};

        if (row + i < p.s)
            query = h.queries[row + i];
        if (p.drops)
            rt_drop(a, h.masks, row + i, key, factor);
#pragma unroll
        for (int j = 0; j < RT_EACH; j++) {
            RtScore score = rt_score(p, h.masks, all, s[i][j], row + i, key + j);
            float part = query.part;
            float weight = part > 0 ? rt_exp_lowf(score.s - query.max) * part : part;
            float dp = p.drops ? factor[j] * ds[i][j] : ds[i][j];
            s[i][j] = p.drops ? weight * factor[j] : weight;
            ds[i][j] = score.is_set ? 0 : weight * (dp - query.d) * p.scale;
        }
    }
}

// Computes the weights and ds of a tile of queries and keys into shared memory. `weights` may be
// left out.
template <class T>
__device__ __forceinline__ void
rt_grad_tile(const RtCudaAttention &a, const RtGradHead<T> &h, RtTilePosition thread, bool all,
             int64_t row, int64_t key, RtSlice<float> &left, RtSlice<float> &right,
             RtScoreTile *weights, RtScoreTile &changes)
{
    const RtAttention &p = a.p;
    float s[RT_EACH][RT_EACH] = {}, ds[RT_EACH][RT_EACH] = {};

    rt_multiply(s, thread, 0, p.e, rt_by_columns(rt_rows(h.q, p.q, row, p.s)),
                rt_by_columns(rt_rows(h.k, p.k, key, p.t)), left, right);
    rt_multiply(ds, thread, 0, p.f, rt_by_columns(rt_rows(h.dy, p.dy, row, p.s)),
                rt_by_columns(rt_rows(h.v, p.v, key, p.t)), left, right);
    rt_grad_weights(a, h, all, row + thread.row, key + thread.column, s, ds);
#pragma unroll
    for (int i = 0; i < RT_EACH; i++)
#pragma unroll
        for (int j = 0; j < RT_EACH; j++) {
            if (weights)
                (*weights)[thread.row + i][thread.column + j] = s[i][j];
            changes[thread.row + i][thread.column + j] = ds[i][j];
        }
    __syncthreads();
}

// Stores a thread's results of some tiles of columns.
template <int TILES, class T>
__device__ __forceinline__ void
rt_put_grad(T *to, const RtStrides &s, RtTilePosition thread, int64_t row, int64_t rows,
            int64_t column, int64_t columns, const float (&sum)[TILES][RT_EACH][RT_EACH])
{
#pragma unroll
    for (int c = 0; c < TILES; c++)
        rt_each_result(sum[c], thread, [&](int i, int j, float v) {
            int64_t y = row + i, x = column + c * RT_EDGE + j;
            if (y < rows && x < columns)
                rt_put(to[y * s.row + x * s.col], v);
        });
}

// A block's batch entry, its first key, and its first column of dk and dv.
struct RtKeys {
    int64_t b, key, column;
};
template <int TILES> __device__ __forceinline__ RtKeys rt_keys(const RtCudaAttention &a)
{
    RtDivided c = rt_divide(blockIdx.x, a.columns), t = rt_divide(c.quotient, a.tiles);

    return {t.quotient, t.rest * RT_EDGE, c.rest * RT_EDGE * TILES};
}

// dk and dv of a tile of keys, of some columns: over all queries of all groups within whose limits
// they are; with ALL, over all queries that have weights for them.
template <int TILES, bool ALL, class T>
__device__ __forceinline__ void rt_grad_keys(const RtCudaAttention &a, const RtCudaGradOperands &x,
                                             const RtKeys &at)
{
    __shared__ __align__(16) RtSlice<float> left, right;
    __shared__ __align__(16) RtScoreTile weights, changes;
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    int64_t b = at.b, key = at.key, column = at.column;
    RtTilePosition thread = rt_tile_position(false);
    RtRange seeing = rt_seeing_rows(p, key), rows = ALL ? RtRange{0, p.s} : seeing;
    float dk[TILES][RT_EACH][RT_EACH] = {}, dv[TILES][RT_EACH][RT_EACH] = {};
    auto weight = rt_operand(false, [&](int i, int64_t k) { return (float)weights[k][i]; });
    auto change = rt_operand(false, [&](int i, int64_t k) { return (float)changes[k][i]; });

    for (int64_t g = 0; g < a.groups; g++) {
        RtGradHead<T> h = rt_grad_head<T>(a, x, b, g);
        for (int64_t row = rows.first; row < rows.last; row += RT_EDGE) {
            bool all = ALL && rt_rows_need_all(p, h.queries, row, scratch);
            if (ALL && !all && (row < seeing.first || row >= seeing.last))
                continue;
            rt_grad_tile(a, h, thread, all, row, key, left, right, &weights, changes);
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                int64_t first = column + i * RT_EDGE, n = rt_rows_left(p.s, row);
                rt_multiply(dv[i], thread, 0, n, weight,
                            rt_by_rows(rt_rows(h.dy, p.dy, row, p.s), first, p.f), left, right);
                rt_multiply(dk[i], thread, 0, n, change,
                            rt_by_rows(rt_rows(h.q, p.q, row, p.s), first, p.e), left, right);
            }
        }
    }
    rt_put_grad((T *)x.dk + rt_head(p, p.dk, b, 0), p.dk, thread, key, p.t, column, p.e, dk);
    rt_put_grad((T *)x.dv + rt_head(p, p.dv, b, 0), p.dv, thread, key, p.t, column, p.f, dv);
}

// For batch entries with queries that aren't settled: computes dk and dv again.
template <class T>
__device__ __forceinline__ void rt_grad_keys_again(const RtCudaAttention &a,
                                                   const RtCudaGradOperands &x)
{
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    RtKeys at = rt_keys<1>(a);
    int64_t rows = a.groups * p.s, columns = p.e > p.f ? p.e : p.f;

    if (!rt_batch_needs_all(x.queries, at.b, rows, RT_PRODUCT_BLOCK, scratch))
        return;
#pragma unroll 1
    for (; at.column < columns; at.column += RT_EDGE)
        rt_grad_keys<1, true, T>(a, x, at);
}

// dq of a tile of queries, of some columns: over all keys for which they have weights.
template <int TILES, class T>
__device__ __forceinline__ void rt_grad_queries(const RtCudaAttention &a,
                                                const RtCudaGradOperands &x)
{
    __shared__ __align__(16) RtSlice<float> left, right;
    __shared__ __align__(16) RtScoreTile changes;
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    RtDivided c = rt_divide(blockIdx.x, a.columns), t = rt_divide(c.quotient, a.tiles);
    RtDivided g = rt_divide(t.quotient, a.groups);
    int64_t row = t.rest * RT_EDGE, column = c.rest * RT_EDGE * TILES;
    RtTilePosition thread = rt_tile_position(false);
    RtGradHead<T> h = rt_grad_head<T>(a, x, g.quotient, g.rest);
    bool all = rt_rows_need_all(p, h.queries, row, scratch);
    RtRange keys = rt_seen_keys(p, all, row);
    float dq[TILES][RT_EACH][RT_EACH] = {};
    auto change = rt_operand(true, [&](int i, int64_t k) { return (float)changes[i][k]; });

    for (int64_t key = keys.first; key < keys.last; key += RT_EDGE) {
        rt_grad_tile(a, h, thread, all, row, key, left, right, nullptr, changes);
#pragma unroll
        for (int i = 0; i < TILES; i++)
            rt_multiply(dq[i], thread, 0, rt_rows_left(p.t, key), change,
                        rt_by_rows(rt_rows(h.k, p.k, key, p.t), column + i * RT_EDGE, p.e), left,
                        right);
    }
    rt_put_grad((T *)x.dq + rt_head(p, p.dq, g.quotient, g.rest), p.dq, thread, row, p.s, column,
                p.e, dq);
}

// Finds what the gradient needs of each query. D is added up as a tile adds up dy·v, so that the
// two are equal where softmax has chosen one key and y is its v. Their difference, times keys and
// queries, is the gradient.
template <class T>
__device__ __forceinline__ void rt_prepare(const RtCudaAttention &a, RtCudaQuery *queries,
                                           const T *y, const T *dy, const float *max,
                                           const float *sum, const float *outside_most)
{
    const RtAttention &p = a.p;
    int64_t i = (int64_t)blockIdx.x * RT_PRODUCT_BLOCK + threadIdx.x;
    RtDivided row = rt_divide(i, p.s), g = rt_divide(row.quotient, a.groups);

    if (i >= a.tiles)
        return;
    const T *from = y + rt_head(p, p.y, g.quotient, g.rest) + row.rest * p.y.row;
    const T *by = dy + rt_head(p, p.dy, g.quotient, g.rest) + row.rest * p.dy.row;
    float d = 0, most = max[rt_head(p, p.max, g.quotient, g.rest) + row.rest * p.max.row];
    float total = sum[rt_head(p, p.sum, g.quotient, g.rest) + row.rest * p.sum.row];
    for (int64_t k = 0; k < p.f; k++)
        d = fmaf(rt_value(from[k * p.y.col]), rt_value(by[k * p.dy.col]), d);
    queries[i] = rt_query_of(p, d, most, total, outside_most, row.quotient);
}

#define RT_ATTENTION_GRAD_OF(T, name)                                                              \
    extern "C" __global__ void rt_cuda_attention_prepare_##name(                                   \
        RtCudaAttention a, RtCudaQuery *queries, const T *y, const T *dy, const float *max,        \
        const float *sum, const float *outside_most)                                               \
    {                                                                                              \
        rt_prepare(a, queries, y, dy, max, sum, outside_most);                                     \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_prepare_##name);                                                    \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_attention_keys_all_##name(RtCudaAttention a, RtCudaGradOperands x)                 \
    {                                                                                              \
        rt_grad_keys_again<T>(a, x);                                                               \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_keys_all_##name);
RT_CUDA_EACH_ATTENTION(RT_ATTENTION_GRAD_OF)

// Lists of types pass a type alone, so each width has a macro of its own.
#define RT_ATTENTION_KEYS(tiles, T, name)                                                          \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_attention_keys_##tiles##_##name(RtCudaAttention a, RtCudaGradOperands x)           \
    {                                                                                              \
        rt_grad_keys<tiles, false, T>(a, x, rt_keys<tiles>(a));                                    \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_keys_##tiles##_##name);
#define RT_ATTENTION_GRAD_WIDE(tiles, T, name)                                                     \
    extern "C" __global__ void __launch_bounds__(RT_PRODUCT_BLOCK)                                 \
        rt_cuda_attention_queries_##tiles##_##name(RtCudaAttention a, RtCudaGradOperands x)        \
    {                                                                                              \
        rt_grad_queries<tiles, T>(a, x);                                                           \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_queries_##tiles##_##name);
// Halves whose heads have one tile at most are computed on tensor cores.
#define RT_ATTENTION_KEYS_1_f32(T) RT_ATTENTION_KEYS(1, T, f32)
#define RT_ATTENTION_KEYS_1_f16(T)
#define RT_ATTENTION_KEYS_1_bf16(T)
#define RT_ATTENTION_GRAD_1(T, name)                                                               \
    RT_ATTENTION_KEYS_1_##name(T) RT_ATTENTION_GRAD_WIDE(1, T, name)
#define RT_ATTENTION_GRAD_2(T, name)                                                               \
    RT_ATTENTION_KEYS(2, T, name) RT_ATTENTION_GRAD_WIDE(2, T, name)
#define RT_ATTENTION_GRAD(tiles) RT_CUDA_EACH_ATTENTION(RT_ATTENTION_GRAD_##tiles)
RT_CUDA_EACH_WIDTH(RT_ATTENTION_GRAD)
