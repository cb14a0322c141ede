// The matrix product of f32, in the manner of Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication" (2008): a slab of b, k by n, is packed once into panels of RT_NR columns,
// by all threads together; each thread packs blocks of its rows of a and multiplies them with its
// panels, block by block of k, while the rows of y are near. Packing takes any strides. The sum
// over k is cut at fixed places.
#include <string.h>

#include "runtime/cpu/gemm.h"
#include "runtime/cpu/transpose.h"

enum {
    PART = 256,      // of k in one chain of sums: the longer it is, the more is rounded off
    MC = 8 * RT_MR,  // rows of a packed at once: with RT_BLOCK_K a fifth of a second-level cache
};

// The part of n when it is cut into as few alike as `most` allows.
static int64_t part_of(int64_t n, int64_t most) { return rt_ceil_div(n, rt_ceil_div(n, most)); }

static int64_t slab_n(const RtGemm *g) { return rt_least(g->n, g->slab_n); }

int64_t rt_gemm_slab(const RtGemm *g)
{
    return part_of(g->k, g->slab_k) * rt_round_up(slab_n(g), RT_NR);
}

// Columns of b in one piece: turned over block by block.
static void pack_columns(float *to, const float *b, int64_t b_n, int64_t k)
{
    int64_t p = 0;

    for (; p + RT_BLOCK <= k; p += RT_BLOCK)
        for (int64_t j = 0; j < RT_NR; j += RT_BLOCK)
            rt_transpose_block(to + p * RT_NR + j, RT_NR, b + p + j * b_n, b_n);
    for (; p < k; p++)
        for (int64_t j = 0; j < RT_NR; j++)
            to[p * RT_NR + j] = b[p + j * b_n];
}

void rt_pack_panel(float *to, const float *b, int64_t b_k, int64_t b_n, int64_t k, int64_t n)
{
    if (n < RT_NR)
        memset(to, 0, sizeof(float) * (size_t)(k * RT_NR));
    if (b_n == 1 && n == RT_NR)
        for (int64_t p = 0; p < k; p++)
            memcpy(to + p * RT_NR, b + p * b_k, sizeof(float) * RT_NR);
    else if (b_k == 1 && n == RT_NR)
        pack_columns(to, b, b_n, k);
    else
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                to[p * RT_NR + j] = b[p * b_k + j * b_n];
}

// Where element (i, p) of a panel of RT_MR rows lies: as rows or as columns, whichever a's memory
// has in one piece.
typedef struct RowPanel {
    int64_t i, p;
} RowPanel;

// Rows are some lines of the cache apart that no power of two divides.
static RowPanel row_panel(const RtGemm *g, int64_t k)
{
    return g->a_k == 1 ? (RowPanel){rt_round_up(k, 16) + 16, 1} : (RowPanel){1, RT_MR};
}

// Rows of a as a panel; zeros after the last one.
static void pack_rows(float *to, RowPanel at, const float *a, int64_t a_m, int64_t a_k, int64_t m,
                      int64_t k)
{
    if (m < RT_MR)
        memset(to, 0, sizeof(float) * (size_t)(at.p == 1 ? RT_MR * at.i : RT_MR * k));
    if (at.p == 1)
        for (int64_t i = 0; i < m; i++)
            memcpy(to + i * at.i, a + i * a_m, sizeof(float) * (size_t)k);
    else if (a_m == 1 && m == RT_MR)
        for (int64_t p = 0; p < k; p++)
            memcpy(to + p * RT_MR, a + p * a_k, sizeof(float) * RT_MR);
    else
        for (int64_t p = 0; p < k; p++)
            for (int64_t i = 0; i < m; i++)
                to[p * RT_MR + i] = a[p * a_k + i * a_m];
}

// A tile at the edge, or of a y whose rows aren't in one piece.
static void store(float *y, int64_t y_m, int64_t y_n, int64_t m, int64_t n,
                  const float c[RT_MR * RT_NR], bool is_more)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            y[i * y_m + j * y_n] = c[i * RT_NR + j] + (is_more ? y[i * y_m + j * y_n] : 0);
}

// Panels [first, last).
typedef struct Range {
    int64_t first, last;
} Range;

// The tile of y is asked for while its sums are made.
static void prefetch(const float *y, int64_t y_m)
{
    for (int64_t i = 0; i < RT_MR; i++)
        for (int j = 0; j < RT_NR; j += 16)
            __builtin_prefetch(y + i * y_m + j, 1);
}

// One tile of y, m by n, from a panel of rows and one of columns.
static void multiply_tile(const RtGemm *g, float *y, int64_t m, int64_t n, int64_t k,
                          const float *a, RowPanel at, const float *b, const float *soon,
                          bool is_more)
{
    float c[RT_MR * RT_NR] __attribute__((aligned(64)));

    if (m == RT_MR && n == RT_NR && g->y_n == 1) {
        prefetch(y, g->y_m);
        rt_tile_ahead(y, g->y_m, is_more, k, a, at.i, at.p, b, RT_NR, soon);
        return;
    }
    rt_tile_ahead(c, RT_NR, false, k, a, at.i, at.p, b, RT_NR, soon);
    store(y, g->y_m, g->y_n, m, n, c, is_more);
}

// Some rows of packed columns of b: n columns, a panel every `step` floats.
typedef struct Block {
    const float *pack;
    int64_t k, n, step;
    bool is_more;  // y has the sum over earlier rows
} Block;

// Rows [at, at + k) of a block: those of a, in panels.
typedef struct Part {
    const float *a;
    int64_t panel;
    RowPanel in;
    int64_t at, k;
} Part;

// Panel j of b stays in the nearest cache, as far as the part goes, while panels of rows pass; the
// next one is called for.
static void multiply_part(const RtGemm *g, float *y, const Part *x, Range rows, int64_t j,
                          const Block *b)
{
    const float *pack = b->pack + j * b->step, *next = pack + b->step;

    next += x->at * RT_SOON * (rows.last - rows.first);
    for (int64_t i = rows.first; i < rows.last; i++, next += x->k * RT_SOON)
        multiply_tile(g, y + i * RT_MR * g->y_m + j * RT_NR * g->y_n,
                      rt_least(RT_MR, g->m - i * RT_MR), rt_least(RT_NR, b->n - j * RT_NR), x->k,
                      x->a + (i - rows.first) * x->panel + x->at * x->in.p, x->in,
                      pack + x->at * RT_NR, next, b->is_more || x->at > 0);
}

// Rows `rows` (panels of RT_MR, at most MC in all) times the panels `columns`.
static void multiply_block(const RtGemm *g, float *y, const float *a, Range rows, Range columns,
                           const Block *b)
{
    float a_pack[MC * (RT_BLOCK_K + 32)] __attribute__((aligned(64)));
    RowPanel at = row_panel(g, b->k);
    int64_t panel = RT_MR * (at.p == 1 ? at.i : b->k), part = part_of(b->k, PART);

    for (int64_t i = rows.first; i < rows.last; i++)
        pack_rows(a_pack + (i - rows.first) * panel, at, a + i * RT_MR * g->a_m, g->a_m, g->a_k,
                  rt_least(RT_MR, g->m - i * RT_MR), b->k);
    for (int64_t j = columns.first; j < columns.last; j++)
        for (int64_t p = 0; p < b->k; p += part)
            multiply_part(g, y, &(Part){a_pack, panel, at, p, rt_least(part, b->k - p)}, rows, j,
                          b);
}

// … any number of rows times a slab. y, a: at its corner.
static void multiply(const RtGemm *g, float *y, const float *a, Range rows, Range columns,
                     const Block *slab)
{
    int64_t k = part_of(slab->k, RT_BLOCK_K);

    for (int64_t r = rows.first; r < rows.last; r += MC / RT_MR)
        for (int64_t p = 0; p < slab->k; p += k) {
            Block b = *slab;
            b.pack += p * RT_NR;
            b.k = rt_least(k, slab->k - p);
            b.is_more |= p > 0;
            multiply_block(g, y, a + p * g->a_k, (Range){r, rt_least(rows.last, r + MC / RT_MR)},
                           columns, &b);
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

// A thread's share of the panels of a slab.
static void pack_slab(const RtGemm *g, float *to, const float *b, const Block *slab, int team,
                      int rank)
{
    int64_t panels = rt_ceil_div(slab->n, RT_NR), last = rt_share(panels, rank + 1, team);

    for (int64_t q = rt_share(panels, rank, team); q < last; q++)
        rt_pack_panel(to + q * slab->step, b + q * RT_NR * g->b_n, g->b_k, g->b_n, slab->k,
                      rt_least(RT_NR, slab->n - q * RT_NR));
}

// What is packed for a slab is read until all have packed the next: there are two in turn.
static void multiply_slabs(const RtGemm *g, float *y, const float *a, const float *b, float *pack,
                           int team, int rank)
{
    int64_t k = part_of(g->k, g->slab_k), n = slab_n(g), row_panels = rt_ceil_div(g->m, RT_MR);
    float *to = pack, *next = team > 1 ? pack + rt_gemm_slab(g) : pack;

    for (int64_t j = 0; j < g->n; j += n) {
        Block s = {.n = rt_least(n, g->n - j)};
        int64_t panels = rt_ceil_div(s.n, RT_NR);
        int down = row_groups(row_panels, panels, team), across = team / down;
        int64_t row = rank / across, column = rank % across;
        Range rows = {rt_share(row_panels, row, down), rt_share(row_panels, row + 1, down)};
        Range columns = {rt_share(panels, column, across), rt_share(panels, column + 1, across)};

        for (int64_t p = 0; p < g->k; p += k) {
            float *packed = to;
            s.pack = to;
            s.k = rt_least(k, g->k - p);
            s.step = s.k * RT_NR;
            s.is_more = p > 0;
            pack_slab(g, to, b + p * g->b_k + j * g->b_n, &s, team, rank);
            if (team > 1) {
#pragma omp barrier
            }
            multiply(g, y + j * g->y_n, a + p * g->a_k, rows, columns, &s);
            to = next;
            next = packed;
        }
    }
    if (team > 1) {
#pragma omp barrier
    }
}

// Where threads have columns of their own, each packs all of a, but of b only what it reads, and
// waits for nobody. That is better where a is the smaller one, if the columns can be shared out
// about as evenly as the rows.
static bool has_own_columns(const RtGemm *g, int team)
{
    int64_t rows = rt_ceil_div(g->m, RT_MR), columns = rt_ceil_div(g->n, RT_NR);
    int64_t by_columns = rows * rt_ceil_div(columns, team);
    int64_t by_rows = rt_ceil_div(rows, team) * columns;

    return team > 1 && g->m <= g->n && columns >= team && by_columns <= by_rows + by_rows / 16;
}

// The thread's columns are a product of its own, its part of the room for slabs its own slab.
static void multiply_columns(const RtGemm *g, float *y, const float *a, const float *b, float *pack,
                             int team, int rank)
{
    int64_t panels = rt_ceil_div(g->n, RT_NR);
    int64_t room = g->n <= g->slab_n ? panels : rt_least(panels, 2 * g->slab_n / RT_NR);
    int64_t first = rt_share(panels, rank, team) * RT_NR, at = rt_share(room, rank, team) * RT_NR;
    RtGemm own = *g;

    own.n = rt_least(g->n, rt_share(panels, rank + 1, team) * RT_NR) - first;
    own.slab_n = rt_share(room, rank + 1, team) * RT_NR - at;
    multiply_slabs(&own, y + first * g->y_n, a, b + first * g->b_n,
                   pack + at * part_of(g->k, g->slab_k), 1, 0);
}

void rt_gemm(const RtGemm *g, float *y, const float *a, const float *b, float *pack, int team,
             int rank)
{
    if (has_own_columns(g, team))
        multiply_columns(g, y, a, b, pack, team, rank);
    else
        multiply_slabs(g, y, a, b, pack, team, rank);
}
