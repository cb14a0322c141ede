// The matrix product of f32, in the manner of Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication" (2008): a block of b, k by n, is packed once into panels of RT_NR columns,
// by all threads together; each thread packs blocks of its rows of a and multiplies them with its
// panels. Packing takes any strides. The sum over k is cut at fixed places.
#include <string.h>

#include "runtime/cpu/gemm.h"

enum {
    MC = 8 * RT_MR
};  // rows of a packed at once: with RT_BLOCK_K a quarter of a second-level cache

static int64_t block_k(const RtGemm *g) { return rt_ceil_div(g->k, rt_ceil_div(g->k, RT_BLOCK_K)); }

static int64_t block_n(const RtGemm *g) { return rt_least(g->n, RT_BLOCK_N); }

int64_t rt_gemm_pack(const RtGemm *g) { return block_k(g) * rt_round_up(block_n(g), RT_NR); }

void rt_pack_panel(float *to, const float *b, int64_t b_k, int64_t b_n, int64_t k, int64_t n)
{
    if (n < RT_NR)
        memset(to, 0, sizeof(float) * (size_t)(k * RT_NR));
    if (b_n == 1 && n == RT_NR)
        for (int64_t p = 0; p < k; p++)
            memcpy(to + p * RT_NR, b + p * b_k, sizeof(float) * RT_NR);
    else if (n == RT_NR)
        for (int64_t p = 0; p < k; p++)
#pragma omp simd
            for (int64_t j = 0; j < RT_NR; j++)
                to[p * RT_NR + j] = b[p * b_k + j * b_n];
    else
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                to[p * RT_NR + j] = b[p * b_k + j * b_n];
}

// The same for rows of a: [k][RT_MR].
static void pack_rows(float *to, const float *a, int64_t a_m, int64_t a_k, int64_t m, int64_t k)
{
    if (m < RT_MR)
        memset(to, 0, sizeof(float) * (size_t)(k * RT_MR));
    if (a_m == 1 && m == RT_MR)
        for (int64_t p = 0; p < k; p++)
            memcpy(to + p * RT_MR, a + p * a_k, sizeof(float) * RT_MR);
    else if (m == RT_MR)
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < RT_MR; i++)
                to[p * RT_MR + i] = a[p * a_k + i * a_m];
    else
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < m; i++)
                to[p * RT_MR + i] = a[p * a_k + i * a_m];
}

static void store(float *y, int64_t y_m, int64_t y_n, int64_t m, int64_t n, float c[RT_MR][RT_NR],
                  bool is_first)
{
    for (int64_t i = 0; i < m; i++)
        if (y_n == 1 && n == RT_NR && is_first)
            memcpy(y + i * y_m, c[i], sizeof(float) * RT_NR);
        else if (y_n == 1 && n == RT_NR)
            for (int j = 0; j < RT_NR; j++)
                y[i * y_m + j] += c[i][j];
        else
            for (int64_t j = 0; j < n; j++)
                y[i * y_m + j * y_n] = is_first ? c[i][j] : y[i * y_m + j * y_n] + c[i][j];
}

// Panels [first, last).
typedef struct Range {
    int64_t first, last;
} Range;

// Rows `rows` (panels of RT_MR) times the packed panels `columns`; y, a: at this block's corner.
static void multiply(const RtGemm *g, float *y, const float *a, const float *pack, Range rows,
                     Range columns, int64_t k, int64_t n, bool is_first)
{
    float a_pack[MC * RT_BLOCK_K] __attribute__((aligned(64)));
    float c[RT_MR][RT_NR] __attribute__((aligned(64)));

    for (int64_t r = rows.first; r < rows.last; r += MC / RT_MR) {
        int64_t end = rt_least(rows.last, r + MC / RT_MR);
        for (int64_t i = r; i < end; i++)
            pack_rows(a_pack + (i - r) * RT_MR * k, a + i * RT_MR * g->a_m, g->a_m, g->a_k,
                      rt_least(RT_MR, g->m - i * RT_MR), k);
        for (int64_t j = columns.first; j < columns.last; j++)
            for (int64_t i = r; i < end; i++) {
                rt_tile(c, k, a_pack + (i - r) * RT_MR * k, 1, RT_MR, pack + j * RT_NR * k, RT_NR);
                store(y + i * RT_MR * g->y_m + j * RT_NR * g->y_n, g->y_m, g->y_n,
                      rt_least(RT_MR, g->m - i * RT_MR), rt_least(RT_NR, n - j * RT_NR), c,
                      is_first);
            }
    }
}

// Into how many groups of rows to cut `rows` by `columns` panels for `team` threads, so that the
// largest piece is smallest.
static int row_groups(int64_t rows, int64_t columns, int team)
{
    int best = team;
    int64_t least = INT64_MAX;

    for (int t = team; t >= 1; t--) {
        int64_t piece = rt_ceil_div(rows, t) * rt_ceil_div(columns, team / t);
        if (team % t == 0 && piece < least) {
            best = t;
            least = piece;
        }
    }
    return best;
}

void rt_gemm(const RtGemm *g, float *y, const float *a, const float *b, float *pack, int team,
             int rank)
{
    int64_t kc = block_k(g), nc = block_n(g), row_panels = rt_ceil_div(g->m, RT_MR);

    for (int64_t j = 0; j < g->n; j += nc) {
        int64_t n = rt_least(nc, g->n - j), panels = rt_ceil_div(n, RT_NR);
        int down = row_groups(row_panels, panels, team), across = team / down;
        int64_t row = rank / across, column = rank % across;
        Range rows = {rt_share(row_panels, row, down), rt_share(row_panels, row + 1, down)};
        Range columns = {rt_share(panels, column, across), rt_share(panels, column + 1, across)};

        for (int64_t p = 0; p < g->k; p += kc) {
            int64_t k = rt_least(kc, g->k - p);
            const float *from = b + p * g->b_k + j * g->b_n;

            for (int64_t q = rt_share(panels, rank, team); q < rt_share(panels, rank + 1, team);
                 q++)
                rt_pack_panel(pack + q * RT_NR * k, from + q * RT_NR * g->b_n, g->b_k, g->b_n, k,
                              rt_least(RT_NR, n - q * RT_NR));
            if (team > 1) {
#pragma omp barrier
            }
            multiply(g, y + j * g->y_n, a + p * g->a_k, pack, rows, columns, k, n, p == 0);
            if (team > 1) {
#pragma omp barrier
            }
        }
    }
}
