// The matrix product of f32, in the manner of Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication" (2008). All threads together pack a slab of b, k by n, into panels of
// columns. Each thread then packs blocks of its rows of a and multiplies them with its panels,
// block by block of k, while the rows of y are in the caches. Packing takes any strides. The sum
// over k is split at fixed indices.
#include "runtime/cpu/gemm.h"

#include "runtime/cpu/amx.h"
#include "runtime/cpu/amx_block.h"
#include "runtime/cpu/tile.h"

// Bytes of a packed block of a. With RT_BLOCK_K it is less than half of a second-level cache.
enum { A_BYTES = 768 << 10 };

// Floats of the part of a panel that `take` produces before it is packed.
enum { BUFFER = 32 * 256 };

static const RtMicro *micro_of(const RtGemm *g)
{
    const RtMicro *amx = rt_amx_fits(g->m, g->n, g->k) ? rt_micro_amx() : NULL;

    if (g->micro || amx)
        return g->micro ? g->micro : amx;
    return g->a_k == 1 ? &rt_micro_rows : &rt_micro_columns;
}

// The size of a part, if k is split into as few equal parts of at most `most` as possible; the last
// one may be shorter.
static int64_t part_of(const RtMicro *u, int64_t k, int64_t most)
{
    return rt_round_up(rt_ceil_div(k, rt_ceil_div(k, most)), u->k_unit);
}

static int64_t slab_n(const RtGemm *g) { return rt_least(g->n, g->slab_n); }

// Bytes of a packed panel of k rows of b; row_panel: of k columns of a.
static int64_t column_panel(const RtMicro *u, int64_t k)
{
    return u->columns * rt_round_up(k, u->k_unit) * u->bytes;
}

static int64_t row_panel(const RtMicro *u, int64_t k)
{
    return u->rows * (rt_round_up(k, u->k_unit) + u->row_padding) * u->bytes;
}

static int64_t slab_bytes(const RtMicro *u, const RtGemm *g)
{
    return column_panel(u, part_of(u, g->k, g->slab_k)) * rt_ceil_div(slab_n(g), u->columns);
}

int64_t rt_gemm_slab(const RtGemm *g) { return slab_bytes(micro_of(g), g); }

// Panels [first, last).
typedef struct Range {
    int64_t first, last;
} Range;

// Rows [first, first + k) of packed columns of b: n columns, with `step` bytes per panel.
typedef struct Block {
    const char *pack;
    int64_t first, k, n, step;
    bool is_more;  // y has the sum over earlier rows
} Block;

// Packs columns [at, at + k) of the panels `rows` of a, with `step` bytes per panel.
static void pack_part(const RtMicro *u, const RtGemm *g, char *to, int64_t step, const float *a,
                      Range rows, int64_t at, int64_t k)
{
    float buffer[BUFFER];

    for (int64_t i = rows.first; i < rows.last; i++, to += step) {
        int64_t row = i * u->rows, n = rt_least(u->rows, g->m - row);
        RtSide side = {a + row * g->a_m + at * g->a_k, n, g->a_m, k, g->a_k};

        if (g->a_from) {
            g->take(g->a_from, buffer, row, n, at, k);
            side = (RtSide){buffer, n, k, k, 1};
        }
        u->pack_rows(to, &side);
    }
}

// Multiplies panels `rows` of a, at most u->panels, with panels `columns` of b. For each part of k,
// a panel of b stays in the first-level cache while all panels of rows use it. The next panel of b
// is prefetched.
static void multiply_block(const RtMicro *u, const RtGemm *g, float *y, const float *a, Range rows,
                           Range columns, const Block *b)
{
    char a_pack[A_BYTES] __attribute__((aligned(64)));
    int64_t first = rows.first * u->rows, part = part_of(u, b->k, u->part);
    RtStrip s = {.m = rt_least(g->m, rows.last * u->rows) - first,
                 .y_m = g->y_m,
                 .y_n = g->y_n,
                 .k = b->k,
                 .part = part,
                 .is_more = b->is_more,
                 .a = a_pack,
                 .a_step = row_panel(u, part),
                 .a_part = u->panels * row_panel(u, part)};

    assert(rt_ceil_div(b->k, part) * s.a_part <= A_BYTES);
    assert(u->part * rt_most(u->rows, u->columns) <= BUFFER);
    for (int64_t p = 0; p < b->k; p += part)
        pack_part(u, g, a_pack + p / part * s.a_part, s.a_step, a, rows, b->first + p,
                  rt_least(part, b->k - p));
    for (int64_t j = columns.first; j < columns.last; j++) {
        s.y = y + first * g->y_m + j * u->columns * g->y_n;
        s.n = rt_least(u->columns, b->n - j * u->columns);
        s.b = b->pack + j * b->step;
        s.prefetched = s.b + b->step;
        u->multiply(&s);
    }
}

// Multiplies any number of panels of rows with a slab. y: element (0, 0) of the slab's columns.
static void multiply(const RtMicro *u, const RtGemm *g, float *y, const float *a, Range rows,
                     Range columns, const Block *slab)
{
    int64_t k = part_of(u, slab->k, RT_BLOCK_K);

    for (int64_t r = rows.first; r < rows.last; r += u->panels)
        for (int64_t p = 0; p < slab->k; p += k) {
            Block b = *slab;
            b.pack += p * u->columns * u->bytes;
            b.first += p;
            b.k = rt_least(k, slab->k - p);
            b.is_more |= p > 0;
            multiply_block(u, g, y, a, (Range){r, rt_least(rows.last, r + u->panels)}, columns, &b);
        }
}

// The number of groups of rows, when `rows` by `columns` panels are divided among `team` threads
// such that the largest share is smallest. Packing a panel of rows counts as much as multiplying it
// with one panel of columns.
static int row_groups(int64_t rows, int64_t columns, int team)
{
    int best = team;
    int64_t least = INT64_MAX;

    for (int t = team; t >= 1; t--) {
        int64_t size = rt_ceil_div(rows, t) * (rt_ceil_div(columns, team / t) + 1);
        if (team % t == 0 && size < least) {
            best = t;
            least = size;
        }
    }
    return best;
}

// Packs a panel of a slab: columns [column, column + n) of b.
static void pack_panel(const RtMicro *u, const RtGemm *g, char *to, const float *b,
                       const Block *slab, int64_t column, int64_t n)
{
    float buffer[BUFFER];
    int64_t most = g->b_from ? u->part : slab->k;

    for (int64_t p = 0; p < slab->k; p += most) {
        int64_t at = slab->first + p, k = rt_least(most, slab->k - p);
        RtSide side = {b + at * g->b_k + column * g->b_n, n, g->b_n, k, g->b_k};

        if (g->b_from) {
            g->take(g->b_from, buffer, at, k, column, n);
            side = (RtSide){buffer, n, 1, k, n};
        }
        u->pack_columns(to + p * u->columns * u->bytes, &side);
    }
}

// Packs a thread's share of the panels of a slab, whose first column is `column` of b.
static void pack_slab(const RtMicro *u, const RtGemm *g, char *to, const float *b,
                      const Block *slab, int64_t column, int team, int rank)
{
    int64_t panels = rt_ceil_div(slab->n, u->columns), last = rt_partition(panels, rank + 1, team);

    for (int64_t q = rt_partition(panels, rank, team); q < last; q++)
        pack_panel(u, g, to + q * slab->step, b, slab, column + q * u->columns,
                   rt_least(u->columns, slab->n - q * u->columns));
}

// Computes y slab by slab. A packed slab is read until all threads have packed the next one, so
// there are two buffers. `first`: the column of b at which g's columns begin; y points to that
// column.
static void multiply_slabs(const RtMicro *u, const RtGemm *g, float *y, const float *a,
                           const float *b, char *pack, int64_t first, int team, int rank)
{
    int64_t k = part_of(u, g->k, g->slab_k), n = slab_n(g), row_panels = rt_ceil_div(g->m, u->rows);
    char *to = pack, *next = team > 1 ? pack + slab_bytes(u, g) : pack;

    for (int64_t j = 0; j < g->n; j += n) {
        Block s = {.n = rt_least(n, g->n - j)};
        int64_t panels = rt_ceil_div(s.n, u->columns);
        int down = row_groups(row_panels, panels, team), across = team / down;
        int64_t row = rank / across, column = rank % across;
        Range rows = {rt_partition(row_panels, row, down), rt_partition(row_panels, row + 1, down)};
        Range columns = {rt_partition(panels, column, across),
                         rt_partition(panels, column + 1, across)};

        for (int64_t p = 0; p < g->k; p += k) {
            char *packed = to;
            s.pack = to;
            s.first = p;
            s.k = rt_least(k, g->k - p);
            s.step = column_panel(u, s.k);
            s.is_more = p > 0;
            pack_slab(u, g, to, b, &s, first + j, team, rank);
            if (team > 1) {
#pragma omp barrier
            }
            multiply(u, g, y + j * g->y_n, a, rows, columns, &s);
            to = next;
            next = packed;
        }
    }
    if (team > 1) {
#pragma omp barrier
    }
}

// Is it better to split only the columns over the threads? Then each thread packs all of a, but
// only its own part of b, and waits for no other thread. It pays if a is the smaller matrix and the
// columns can be divided about as evenly as the rows.
static bool has_own_columns(const RtMicro *u, const RtGemm *g, int team)
{
    int64_t rows = rt_ceil_div(g->m, u->rows), columns = rt_ceil_div(g->n, u->columns);
    int64_t by_columns = rows * rt_ceil_div(columns, team);
    int64_t by_rows = rt_ceil_div(rows, team) * columns;

    return team > 1 && g->m <= g->n && columns >= team && by_columns <= by_rows + by_rows / 16;
}

// The thread's columns are a product of their own, and its part of the pack is its slab.
static void multiply_columns(const RtMicro *u, const RtGemm *g, float *y, const float *a,
                             const float *b, char *pack, int team, int rank)
{
    int64_t panels = rt_ceil_div(g->n, u->columns), slab = slab_n(g) / u->columns;
    int64_t shared = g->n <= g->slab_n ? panels : rt_least(panels, 2 * slab);
    int64_t first = rt_partition(panels, rank, team) * u->columns,
            at = rt_partition(shared, rank, team);
    RtGemm own = *g;

    own.n = rt_least(g->n, rt_partition(panels, rank + 1, team) * u->columns) - first;
    own.slab_n = (rt_partition(shared, rank + 1, team) - at) * u->columns;
    multiply_slabs(u, &own, y + first * g->y_n, a, b,
                   pack + at * column_panel(u, part_of(u, g->k, g->slab_k)), first, 1, 0);
}

void rt_gemm(const RtGemm *g, float *y, const float *a, const float *b, void *pack, int team,
             int rank)
{
    const RtMicro *u = micro_of(g);

    if (u->begin)
        u->begin();
    if (has_own_columns(u, g, team))
        multiply_columns(u, g, y, a, b, pack, team, rank);
    else
        multiply_slabs(u, g, y, a, b, pack, 0, team, rank);
    if (u->end)
        u->end();
}
