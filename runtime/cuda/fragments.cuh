// Attention on tensor cores: operands of halves in global memory, tiles of them in shared memory,
// products of fragments (mma.cuh), and what scores and weights of fragments are. A block has four
// warps, each of which has 16 or 32 rows of the results. It goes over tiles of the other operands,
// which are copied while the tiles before are multiplied.
#ifndef SHARDCC_RT_CUDA_FRAGMENTS_CUH
#define SHARDCC_RT_CUDA_FRAGMENTS_CUH

#include "runtime/cuda/mma.cuh"
#include "runtime/cuda/scores.cuh"

// A warp for 16 rows of RT_EDGE.
enum { RT_TENSOR_ROWS = 16, RT_TENSOR_BLOCK = 128 };

__device__ __forceinline__ int rt_lane() { return (int)threadIdx.x % RT_WARP; }
__device__ __forceinline__ int rt_warp() { return (int)threadIdx.x / RT_WARP; }

// Row and column of number i of a sum's fragment.
__device__ __forceinline__ int rt_sum_row(int i) { return rt_lane() / 4 + i / 2 * 8; }
__device__ __forceinline__ int rt_sum_column(int i) { return rt_lane() % 4 * 2 + i % 2; }

// ---- operands ----

// A head's operand in global memory: halves, and 0 where it has none.
template <class T> struct RtHalves {
    const T *at;
    int rows, columns;
    int64_t row_stride, col_stride;
    bool has_pairs, has_vectors;  // a row's neighbours may be read together: 2, 8
};
template <class T>
__device__ __forceinline__ RtHalves<T> rt_halves(const void *x, const RtStrides &s, int64_t head,
                                                 int64_t rows, int64_t columns)
{
    const T *at = (const T *)x + head;
    uint64_t bytes = (uint64_t)at | (uint64_t)s.row * sizeof(T);
    bool is_dense = s.col == 1;

    return {at,
            (int)rows,
            (int)columns,
            s.row,
            s.col,
            is_dense && bytes % 4 == 0,
            is_dense && bytes % 16 == 0};
}

// A word of an element and the next one of its row; `column` is even.
template <class T>
__device__ __forceinline__ uint32_t rt_pair(const RtHalves<T> &x, int row, int column)
{
    const T *at = x.at + row * x.row_stride + column * x.col_stride;
    bool has_next = column + 1 < x.columns;

    if (row >= x.rows || column >= x.columns)
        return 0;
    if (x.has_pairs && has_next)
        return rt_load<uint32_t>(at);
    return at->bits | (has_next ? (uint32_t)at[x.col_stride].bits << 16 : 0);
}

// The left factor's fragments of 16 rows from `row` on, for all columns.
template <int K, class T>
__device__ __forceinline__ void rt_load_left(uint32_t (&a)[K][4], const RtHalves<T> &x, int row)
{
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            a[k][i] =
                rt_pair(x, row + rt_lane() / 4 + i % 2 * 8, 16 * k + rt_lane() % 4 * 2 + i / 2 * 8);
}

// ---- tiles ----

// Rows of WIDE halves in shared memory. Four words more than needed keep 8 rows in different banks.
template <int ROWS, int WIDE> using RtTile = Shared<uint32_t[ROWS][WIDE / 2 + 4]>;
// Two tiles that are multiplied, and two that are copied.
template <int ROWS, int WIDE> using RtStream = Shared<uint32_t[2][2][ROWS][WIDE / 2 + 4]>;

// Begins to copy the rows from `first` on.
template <int ROWS, int WIDE, class T>
__device__ __forceinline__ void rt_fetch_tile(RtTile<ROWS, WIDE> &tile, const RtHalves<T> &x,
                                              int first)
{
    enum { VECTORS = WIDE / 8, STEP = RT_TENSOR_BLOCK / VECTORS };  // of a row; rows
    int row = (int)threadIdx.x / VECTORS, column = (int)threadIdx.x % VECTORS * 8;
    int left = x.columns - column, some = left <= 0 ? 0 : left < 8 ? 2 * left : 16;

#pragma unroll 1
    for (; row < ROWS; row += STEP) {
        if (x.has_vectors) {
            int bytes = first + row < x.rows ? some : 0;
            const T *from = x.at + (bytes ? (first + row) * x.row_stride + column : 0);
            rt_copy_begin(tile[row], column / 2, from, bytes);
        } else {
#pragma unroll 1
            for (int j = 0; j < 4; j++)
                tile[row][column / 2 + j] = rt_pair(x, first + row, column + 2 * j);
        }
    }
}

// Calls use(first, left, right) for the tiles of rows of both matrices in a range, in their order,
// with a tile's first row. The pair after it is copied meanwhile.
template <int ROWS, int WIDE, class T, class Use>
__device__ __forceinline__ void rt_each_pair(RtStream<ROWS, WIDE> &stream, const RtRange &range,
                                             const RtHalves<T> &left, const RtHalves<T> &right,
                                             const Use &use)
{
    int first = (int)range.first, n = ((int)(range.last - range.first) + ROWS - 1) / ROWS;
    auto fetch = [&](int i) {
        rt_fetch_tile<ROWS, WIDE>(stream[i % 2][0], left, first + i * ROWS);
        rt_fetch_tile<ROWS, WIDE>(stream[i % 2][1], right, first + i * ROWS);
    };

    if (n > 0)
        fetch(0);
    rt_copy_group();
    for (int i = 0; i < n; i++) {
        if (i + 1 < n)
            fetch(i + 1);
        rt_copy_group();
        rt_copy_wait<1>();
        __syncthreads();  // all have waited for their copies of this pair
        use(first + i * ROWS, stream[i % 2][0], stream[i % 2][1]);
        __syncthreads();  // all have read it
    }
}

// ---- products ----

// sum[m][n] += a[m] · rows 8 n to 8 n + 7, after `first`, of a tile: products of rows.
template <class T, int ROWS, int WIDE, int M, int N>
__device__ __forceinline__ void rt_multiply_rows(float (&sum)[M][N][4],
                                                 const uint32_t (&a)[M][WIDE / 16][4],
                                                 RtTile<ROWS, WIDE> &tile, int first)
{
    const int row = rt_lane() / 16 * 8 + rt_lane() % 8, word = rt_lane() / 8 % 2 * 4;

#pragma unroll
    for (int n = 0; n < N; n += 2)
#pragma unroll
        for (int k = 0; k < WIDE / 16; k++) {
            uint32_t b[4];
            rt_load_matrices<false>(b, tile[first + 8 * n + row], 8 * k + word);
#pragma unroll
            for (int m = 0; m < M; m++) {
                rt_mma(T(), sum[m][n], a[m][k], b[0], b[1]);
                rt_mma(T(), sum[m][n + 1], a[m][k], b[2], b[3]);
            }
        }
}

// sum[m] += a[m] · 16 K rows, from `first` on, of a tile: row k of it is multiplied by column k.
template <class T, int ROWS, int WIDE, int M, int K>
__device__ __forceinline__ void rt_multiply_columns(float (&sum)[M][WIDE / 8][4],
                                                    const uint32_t (&a)[M][K][4],
                                                    RtTile<ROWS, WIDE> &tile, int first)
{
    const int row = rt_lane() % 16, word = rt_lane() / 16 * 4;

#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int n = 0; n < WIDE / 8; n += 2) {
            uint32_t b[4];
            rt_load_matrices<true>(b, tile[first + 16 * k + row], 4 * n + word);
#pragma unroll
            for (int m = 0; m < M; m++) {
                rt_mma(T(), sum[m][n], a[m][k], b[0], b[1]);
                rt_mma(T(), sum[m][n + 1], a[m][k], b[2], b[3]);
            }
        }
}

// Rounds a sum's fragments to those of a left factor.
template <class T, int K>
__device__ __forceinline__ void rt_round(uint32_t (&a)[K][4], const float (&s)[2 * K][4])
{
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            a[k][i] = rt_pack(T(), s[2 * k + i / 2][i % 2 * 2], s[2 * k + i / 2][i % 2 * 2 + 1]);
}

// Stores value(n, i), number i of fragment n, rounded: of 16 rows from `row` on.
template <int N, class T, class Value>
__device__ __forceinline__ void rt_put_rounded(const RtHalves<T> &y, int row, const Value &value)
{
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            int r = row + rt_sum_row(i), c = 8 * n + rt_sum_column(i);
            T *at = const_cast<T *>(y.at) + r * y.row_stride + c * y.col_stride;
            if (r >= y.rows || c >= y.columns)
                continue;
            bool has_next = c + 1 < y.columns;
            if (y.has_pairs && has_next) {
                rt_store(at, 0, rt_pack(T(), value(n, i), value(n, i + 1)));
                continue;
            }
            rt_put(*at, value(n, i));
            if (has_next)
                rt_put(at[y.col_stride], value(n, i + 1));
        }
}

// ---- scores ----

// A warp's fragments of scores, 16 by 8 each: rows are queries and columns keys, or with ARE_KEYS
// rows are keys and columns queries. The first query and key:
struct RtCorner {
    int query, key;
};
template <bool ARE_KEYS>
__device__ __forceinline__ RtCorner rt_score_at(const RtCorner &at, int n, int i)
{
    int row = rt_sum_row(i), column = 8 * n + rt_sum_column(i);

    return {at.query + (ARE_KEYS ? column : row), at.key + (ARE_KEYS ? row : column)};
}

// Do limits show all scores of these queries and keys, which are all there?
__device__ __forceinline__ bool rt_shows_all(const RtAttention &p, const RtCorner &at, int queries,
                                             int keys)
{
    int below = at.query + (int)p.offset;

    return at.query + queries <= (int)p.s && at.key + keys <= (int)p.t &&
           (!p.causal || (at.key + keys - 1 <= below &&
                          (p.window <= 0 || at.key > below + queries - 1 - (int)p.window)));
}

// The columns of a fragment's row that limits show, from at.query or at.key on: first ≤ column <
// last.
struct RtShown {
    int first, last;
};
template <bool ARE_KEYS>
__device__ __forceinline__ RtShown rt_shown(const RtAttention &p, const RtCorner &at)
{
    // ahead: from at.key to the last key that the query sees
    int ahead = at.query + (int)p.offset - at.key, window = (int)p.window;
    int first = 0, last = ARE_KEYS ? (int)p.s - at.query : (int)p.t - at.key;

    if (p.causal && ARE_KEYS) {
        first = -ahead;
        last = window > 0 && last > window - ahead ? window - ahead : last;
    } else if (p.causal) {
        first = window > 0 ? ahead - window + 1 : 0;
        last = last > ahead ? ahead + 1 : last;
    }
    if (ARE_KEYS ? at.key >= (int)p.t : at.query >= (int)p.s)
        last = 0;
    return {first, last};
}

// The score of a product within limits, where there is a bias.
template <bool IS_BOOL>
__device__ __forceinline__ RtScore rt_biased(const RtAttention &p, const void *bias, int64_t at,
                                             float product)
{
    float s = product * p.scale;

    if (!IS_BOOL)
        return {s + ((const float *)bias)[at], false};
    bool is_hidden = !((const uint8_t *)bias)[at];
    return {is_hidden ? rt_mask_number(p.hidden) + (p.hidden_added ? s : 0) : s,
            is_hidden && !p.hidden_added};
}

// Scores of which limits show some; the others are -inf.
template <bool ARE_KEYS, bool HAS_BIAS, bool IS_BOOL, int N>
__device__ __forceinline__ uint32_t rt_score_shown(const RtAttention &p, const RtMasks &m,
                                                   const RtCorner &at, float (&s)[N][4])
{
    uint32_t set = 0;

#pragma unroll
    for (int h = 0; h < 2; h++) {
        int row = rt_sum_row(2 * h);
        RtCorner line = {at.query + (ARE_KEYS ? 0 : row), at.key + (ARE_KEYS ? row : 0)};
        RtShown shown = rt_shown<ARE_KEYS>(p, line);
        int64_t first = line.query * p.bias.row + line.key * p.bias.col;
        int64_t step = ARE_KEYS ? p.bias.row : p.bias.col;
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 2 * h; i < 2 * h + 2; i++) {
                int column = 8 * n + rt_sum_column(i);
                if (column < shown.first || column >= shown.last) {
                    s[n][i] = -INFINITY;
                    set |= 1U << (4 * n + i);
                } else if (HAS_BIAS) {
                    RtScore score = rt_biased<IS_BOOL>(p, m.bias, first + column * step, s[n][i]);
                    s[n][i] = score.s;
                    set |= (uint32_t)score.is_set << (4 * n + i);
                } else {
                    s[n][i] *= p.scale;
                }
            }
    }
    return set;
}

// Scores with those outside of limits. They are rare, so one text serves all numbers of a lane,
// which it takes from memory.
template <bool ARE_KEYS, int N>
__device__ __forceinline__ uint32_t rt_score_all(const RtAttention &p, const RtMasks &m,
                                                 const RtCorner &at, float (&s)[N][4])
{
    float numbers[4 * N];
    uint32_t set = 0;

#pragma unroll
    for (int j = 0; j < 4 * N; j++)
        numbers[j] = s[j / 4][j % 4];
#pragma unroll 1
    for (int j = 0; j < 4 * N; j++) {
        RtCorner of = rt_score_at<ARE_KEYS>(at, j / 4, j % 4);
        RtScore score = rt_score(p, m, true, numbers[j], of.query, of.key);
        numbers[j] = score.s;
        set |= (uint32_t)(score.is_set || of.key >= (int)p.t) << j;
    }
#pragma unroll
    for (int j = 0; j < 4 * N; j++)
        s[j / 4][j % 4] = numbers[j];
    return set;
}

// Turns products into scores, as rt_score does. Returns a bit for each one without a gradient, as a
// mask's number replaced it, or as it isn't there: bit 4 n + i is that of number i of fragment n.
// IS_PLAIN: there is no bias, nor `all`.
template <bool ARE_KEYS, bool IS_PLAIN, int N>
__device__ __forceinline__ uint32_t rt_score_fragments(const RtAttention &p, const RtMasks &m,
                                                       bool all, const RtCorner &at,
                                                       float (&s)[N][4])
{
    static_assert(N <= 8, "a bit for each score");

    if (!IS_PLAIN && all)
        return rt_score_all<ARE_KEYS>(p, m, at, s);
    if (!IS_PLAIN && p.has_bias)
        return p.bool_bias ? rt_score_shown<ARE_KEYS, true, true>(p, m, at, s)
                           : rt_score_shown<ARE_KEYS, true, false>(p, m, at, s);
    if (!rt_shows_all(p, at, ARE_KEYS ? 8 * N : RT_TENSOR_ROWS, ARE_KEYS ? RT_TENSOR_ROWS : 8 * N))
        return rt_score_shown<ARE_KEYS, false, false>(p, m, at, s);
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            s[n][i] *= p.scale;
    return 0;
}

// Which numbers of N fragments dropout keeps: bits as of rt_score_fragments. Each lane draws for
// one query and four keys of a fragment, and tells the others.
template <bool ARE_KEYS, int N>
__device__ __forceinline__ uint32_t rt_kept(const RtCudaAttention &a, const RtMasks &m,
                                            const RtCorner &at)
{
    const int queries = ARE_KEYS ? 8 : RT_TENSOR_ROWS;
    uint32_t kept = 0;

#pragma unroll 1
    for (int n = 0; n < N; n++) {
        RtCorner first = {at.query + (ARE_KEYS ? 8 * n : 0), at.key + (ARE_KEYS ? 0 : 8 * n)};
        float factor[RT_EACH];
        uint32_t lanes[RT_EACH];

        rt_drop(a, m, first.query + rt_lane() % queries, first.key + rt_lane() / queries * RT_EACH,
                factor);
#pragma unroll
        for (int j = 0; j < RT_EACH; j++)
            lanes[j] = __ballot_sync((unsigned)RT_ALL_LANES, factor[j] != 0);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            RtCorner of = rt_score_at<ARE_KEYS>({0, 0}, 0, i);
            int key = of.key, lane = of.query + key / RT_EACH * queries;
            uint32_t low = key % 2 ? lanes[1] : lanes[0], high = key % 2 ? lanes[3] : lanes[2];
            kept |= ((key % 4 < 2 ? low : high) >> lane & 1) << (4 * n + i);
        }
    }
    return kept;
}

__device__ __forceinline__ float rt_exp_difference(float score, float max)
{
    return rt_exp2((score - max) * 1.44269504f);  // log2 of e
}

#endif
