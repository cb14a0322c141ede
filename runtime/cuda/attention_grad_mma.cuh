// Gradients of attention of halves on tensor cores, by the formulas of attention_grad.cu. A warp
// has 16 keys or queries in registers, with their gradients. Products are added up in f32; weights
// and ds, without its factor `scale`, are rounded to halves before they are multiplied.
#ifndef SHARDCC_RT_CUDA_ATTENTION_GRAD_MMA_CUH
#define SHARDCC_RT_CUDA_ATTENTION_GRAD_MMA_CUH

#include "runtime/cuda/fragments.cuh"

// The numbers of a query that its gradient needs; no weights of a query that there isn't.
__device__ __forceinline__ RtCudaQuery rt_query(const RtAttention &p, const RtCudaQuery *queries,
                                                int row)
{
    if (row >= (int)p.s)
        return {0, 0, 0, 0};
    float4 x = rt_load<float4>((const float *)queries, 4 * (int64_t)row);
    return {x.x, x.y, x.z, x.w};
}

// Turns products q·k into weights, after dropout, and products dy·v into ds. query(n, i) is that of
// number i of fragment n. Where a row has no weights, `part` is 0, whatever its scores are, or NaN.
template <bool ARE_KEYS, int N, class Query>
__device__ __forceinline__ void rt_grad_fragments(const RtCudaAttention &a, const RtMasks &m,
                                                  bool all, const RtCorner &at, const Query &query,
                                                  float (&s)[N][4], float (&ds)[N][4])
{
    uint32_t set = rt_score_fragments<ARE_KEYS, false>(a.p, m, all, at, s), kept = 0;
    bool drops = a.p.drops;

    if (drops)
        kept = rt_kept<ARE_KEYS, N>(a, m, at);
#pragma unroll
    for (int n = 0; n < N; n++) {
        RtCudaQuery of[2] = {query(n, 0), query(n, ARE_KEYS ? 1 : 2)};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const RtCudaQuery &q = of[ARE_KEYS ? i % 2 : i / 2];
            float factor = kept >> (4 * n + i) & 1 ? a.factor : 0;
            float weight = q.part > 0 ? rt_exp_difference(s[n][i], q.max) * q.part : q.part;
            float change = weight * ((drops ? factor * ds[n][i] : ds[n][i]) - q.d);
            s[n][i] = drops ? weight * factor : weight;
            ds[n][i] = set >> (4 * n + i) & 1 ? 0 : change;
        }
    }
}

// Stores sums, times a factor, of 16 rows from `row` on.
template <int N, class T>
__device__ __forceinline__ void rt_put_grad_rows(const RtHalves<T> &to, int row,
                                                 const float (&sum)[N][4], float factor)
{
    rt_put_rounded<N>(to, row, [&](int n, int i) { return sum[n][i] * factor; });
}

// dk and dv of a block's keys: over all queries of all groups that see them. `again`: of batch
// entries with queries that aren't settled, computed anew over all queries. Registers hold both
// sums of narrow heads; of wide ones a block computes one.
template <int TILES, class T>
__device__ __forceinline__ void rt_grad_keys_tensor(const RtCudaAttention &a,
                                                    const RtCudaGradOperands &x, bool again)
{
    enum {
        WIDE = RT_EDGE * TILES,
        QUERIES = RT_EDGE / TILES,
        PART = QUERIES / 2,  // so many are multiplied together
        SUMS = 2 / TILES
    };
    __shared__ __align__(16) RtStream<QUERIES, WIDE> stream;
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    RtDivided half = rt_divide(blockIdx.x, TILES), t = rt_divide(half.quotient, a.tiles);
    int64_t b = t.quotient, first = t.rest * RT_EDGE;
    int key = (int)first + rt_warp() * RT_TENSOR_ROWS;

    if (again && !rt_batch_needs_all(x.queries, b, a.groups * p.s, RT_TENSOR_BLOCK, scratch))
        return;
    RtRange rows = again ? RtRange{0, p.s} : rt_seeing_rows(p, first);
    uint32_t k[1][WIDE / 16][4], v[1][WIDE / 16][4];
    float sum[SUMS][1][WIDE / 8][4] = {};
    bool is_dk[] = {half.rest == 0, false};  // else dv

    rt_load_left(k[0], rt_halves<T>(x.k, p.k, rt_head(p, p.k, b, 0), p.t, p.e), key);
    rt_load_left(v[0], rt_halves<T>(x.v, p.v, rt_head(p, p.v, b, 0), p.t, p.f), key);
    for (int64_t g = 0; g < a.groups; g++) {
        RtHalves<T> q = rt_halves<T>(x.q, p.q, rt_head(p, p.q, b, g), p.s, p.e);
        RtHalves<T> dy = rt_halves<T>(x.dy, p.dy, rt_head(p, p.dy, b, g), p.s, p.f);
        const RtCudaQuery *queries = x.queries + (b * a.groups + g) * p.s;
        RtMasks masks = rt_masks(p, b, g, x.bias, x.seed, x.step, x.micro);

        rt_each_pair<QUERIES, WIDE>(
            stream, rows, q, dy,
            [&](int row, RtTile<QUERIES, WIDE> &of_q, RtTile<QUERIES, WIDE> &of_dy) {
#pragma unroll 1
                for (int part = 0; part < QUERIES; part += PART) {
                    RtCorner at = {row + part, key};
                    float s[1][PART / 8][4] = {}, ds[1][PART / 8][4] = {};
                    uint32_t terms[1][PART / 16][4];

                    rt_multiply_rows<T, QUERIES, WIDE>(s, k, of_q, part);
                    if (is_dk[0])
                        rt_multiply_rows<T, QUERIES, WIDE>(ds, v, of_dy, part);
                    rt_grad_fragments<true>(
                        a, masks, again, at,
                        [&](int n, int j) {
                            return rt_query(p, queries, at.query + 8 * n + rt_sum_column(j));
                        },
                        s[0], ds[0]);
#pragma unroll
                    for (int j = 0; j < SUMS; j++) {
                        if (is_dk[j])
                            rt_round<T>(terms[0], ds[0]);
                        else
                            rt_round<T>(terms[0], s[0]);
                        rt_multiply_columns<T, QUERIES, WIDE>(sum[j], terms,
                                                              is_dk[j] ? of_q : of_dy, part);
                    }
                }
            });
    }
#pragma unroll
    for (int j = 0; j < SUMS; j++) {
        RtHalves<T> to = is_dk[j] ? rt_halves<T>(x.dk, p.dk, rt_head(p, p.dk, b, 0), p.t, p.e)
                                  : rt_halves<T>(x.dv, p.dv, rt_head(p, p.dv, b, 0), p.t, p.f);
        rt_put_grad_rows(to, key, sum[j][0], is_dk[j] ? p.scale : 1);
    }
}

// dq of a block's queries: over all keys for which they have weights. Those with the most keys come
// first.
template <int TILES, class T>
__device__ __forceinline__ void rt_grad_queries_tensor(const RtCudaAttention &a,
                                                       const RtCudaGradOperands &x)
{
    enum {
        WIDE = RT_EDGE * TILES,
        KEYS = RT_EDGE / TILES,
        PART = KEYS / 2  // so many are multiplied together
    };
    __shared__ __align__(16) RtStream<KEYS, WIDE> stream;
    __shared__ Shared<float[RT_WARP]> scratch;
    const RtAttention &p = a.p;
    RtDivided t = rt_divide(blockIdx.x, a.tiles), head = rt_divide(t.quotient, a.groups);
    int64_t b = head.quotient, g = head.rest, first = (a.tiles - 1 - t.rest) * RT_EDGE;
    int row = (int)first + rt_warp() * RT_TENSOR_ROWS;
    const RtCudaQuery *queries = x.queries + t.quotient * p.s;
    bool all = rt_rows_need_all(p, queries, first, scratch);
    RtRange keys = rt_seen_keys(p, all, first);
    RtMasks masks = rt_masks(p, b, g, x.bias, x.seed, x.step, x.micro);
    RtHalves<T> k = rt_halves<T>(x.k, p.k, rt_head(p, p.k, b, g), p.t, p.e);
    RtHalves<T> v = rt_halves<T>(x.v, p.v, rt_head(p, p.v, b, g), p.t, p.f);
    RtCudaQuery of[2] = {rt_query(p, queries, row + rt_sum_row(0)),
                         rt_query(p, queries, row + rt_sum_row(2))};
    uint32_t q[1][WIDE / 16][4], dy[1][WIDE / 16][4];
    float dq[1][WIDE / 8][4] = {};

    rt_load_left(q[0], rt_halves<T>(x.q, p.q, rt_head(p, p.q, b, g), p.s, p.e), row);
    rt_load_left(dy[0], rt_halves<T>(x.dy, p.dy, rt_head(p, p.dy, b, g), p.s, p.f), row);
    rt_each_pair<KEYS, WIDE>(
        stream, keys, k, v, [&](int key, RtTile<KEYS, WIDE> &of_k, RtTile<KEYS, WIDE> &of_v) {
#pragma unroll 1
            for (int part = 0; part < KEYS; part += PART) {
                RtCorner at = {row, key + part};
                float s[1][PART / 8][4] = {}, ds[1][PART / 8][4] = {};
                uint32_t changes[1][PART / 16][4];

                rt_multiply_rows<T, KEYS, WIDE>(s, q, of_k, part);
                rt_multiply_rows<T, KEYS, WIDE>(ds, dy, of_v, part);
                rt_grad_fragments<false>(
                    a, masks, all, at, [&](int, int j) { return of[j / 2]; }, s[0], ds[0]);
                rt_round<T>(changes[0], ds[0]);
                rt_multiply_columns<T, KEYS, WIDE>(dq, changes, of_k, part);
            }
        });
    rt_put_grad_rows(rt_halves<T>(x.dq, p.dq, rt_head(p, p.dq, b, g), p.s, p.e), row, dq[0],
                     p.scale);
}

// Finds what the gradient needs of each query. D is added up as a tile adds up dy·v, so that the
// two are equal where softmax has chosen one key: a warp multiplies 16 queries' dy by their y, and
// takes the diagonal.
template <int TILES, class T>
__device__ __forceinline__ void rt_prepare_tensor(const RtCudaAttention &a, RtCudaQuery *queries,
                                                  const T *y, const T *dy, const float *max,
                                                  const float *sum, const float *outside_most)
{
    enum { TERMS = RT_EDGE * TILES / 16 };
    const RtAttention &p = a.p;
    RtDivided t = rt_divide(blockIdx.x, a.tiles), head = rt_divide(t.quotient, a.groups);
    int64_t b = head.quotient, g = head.rest;
    int first = (int)t.rest * RT_EDGE + rt_warp() * RT_TENSOR_ROWS, row = rt_lane() / 4;
    uint32_t left[TERMS][4], right[TERMS][4];
    float d[2][4] = {};

    rt_load_left(left, rt_halves<T>(dy, p.dy, rt_head(p, p.dy, b, g), p.s, p.f), first);
    rt_load_left(right, rt_halves<T>(y, p.y, rt_head(p, p.y, b, g), p.s, p.f), first);
#pragma unroll
    for (int k = 0; k < TERMS; k++)
#pragma unroll
        for (int n = 0; n < 2; n++)
            rt_mma(T(), d[n], left[k], right[k][n], right[k][n + 2]);
    if (rt_lane() % 4 != row / 2)
        return;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int r = first + row + 8 * h;
        if (r < (int)p.s)
            queries[t.quotient * p.s + r] =
                rt_query_of(p, row % 2 ? d[h][2 * h + 1] : d[h][2 * h],
                            max[rt_head(p, p.max, b, g) + r * p.max.row],
                            sum[rt_head(p, p.sum, b, g) + r * p.sum.row], outside_most, t.quotient);
    }
}

// Lists of types pass a type alone, so each width has a macro of its own.
#define RT_GRAD_TENSOR_WIDE(tiles, T, name)                                                        \
    extern "C" __global__ void __launch_bounds__(RT_TENSOR_BLOCK)                                  \
        rt_cuda_attention_tensor_prepare_##tiles##_##name(                                         \
            RtCudaAttention a, RtCudaQuery *queries, const T *y, const T *dy, const float *max,    \
            const float *sum, const float *outside_most)                                           \
    {                                                                                              \
        rt_prepare_tensor<tiles>(a, queries, y, dy, max, sum, outside_most);                       \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_tensor_prepare_##tiles##_##name);                                   \
    extern "C" __global__ void __launch_bounds__(RT_TENSOR_BLOCK)                                  \
        rt_cuda_attention_tensor_keys_##tiles##_##name(RtCudaAttention a, RtCudaGradOperands x,    \
                                                       bool again)                                 \
    {                                                                                              \
        rt_grad_keys_tensor<tiles, T>(a, x, again);                                                \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_tensor_keys_##tiles##_##name);                                      \
    extern "C" __global__ void __launch_bounds__(RT_TENSOR_BLOCK)                                  \
        rt_cuda_attention_tensor_queries_##tiles##_##name(RtCudaAttention a, RtCudaGradOperands x) \
    {                                                                                              \
        rt_grad_queries_tensor<tiles, T>(a, x);                                                    \
    }                                                                                              \
    RT_ENTRY(rt_cuda_attention_tensor_queries_##tiles##_##name);
#define RT_GRAD_TENSOR_1(T, name) RT_GRAD_TENSOR_WIDE(1, T, name)
#define RT_GRAD_TENSOR_2(T, name) RT_GRAD_TENSOR_WIDE(2, T, name)
#define RT_GRAD_TENSOR(tiles) RT_CUDA_EACH_TENSOR(RT_GRAD_TENSOR_##tiles)
RT_CUDA_EACH_WIDTH(RT_GRAD_TENSOR)

#endif
