// The matrix product of f32 and of halves, in the manner of Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication" (2008). All threads together pack a slab of b, k by n,
// into panels of columns. Each thread then packs blocks of its rows of a and multiplies them with
// its panels, block by block of k, while the rows of y are in the caches. Packing takes any
// strides. The sum over k is split at fixed indices. Halves are widened while they are packed,
// unless the micro-kernel multiplies them.
#include "runtime/cpu/gemm.h"

#include "runtime/cpu/amx.h"
#include "runtime/cpu/amx_block.h"
#include "runtime/cpu/floats.h"
#include "runtime/cpu/micro_bf16.h"
#include "runtime/cpu/tile.h"

// Bytes of a packed block of a. With RT_BLOCK_K it is less than half of a second-level cache.
enum { A_BYTES = 768 << 10 };

// Floats of the part of a panel that is taken or widened before it is packed.
enum { BUFFER = 32 * 256 };

const RtMicro *rt_gemm_micro(const RtGemm *g)
{
    bool is_bf16 = g->type == RT_BF16, fits = rt_amx_fits(g->m, g->n, g->k) && g->type != RT_F16;
    const RtMicro *amx = !fits ? NULL : is_bf16 ? rt_micro_amx_bf16() : rt_micro_amx();
    const RtMicro *own = is_bf16 ? rt_micro_bf16() : NULL;

    if (g->micro || amx || own)
        return g->micro ? g->micro : amx ? amx : own;
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

int64_t rt_gemm_slab(const RtGemm *g) { return slab_bytes(rt_gemm_micro(g), g); }

// Panels [first, last).
typedef struct Range {
    int64_t first, last;
} Range;

// Where sums go: y itself, or the memory for sums of rows from `row` on.
typedef struct Sums {
    float *at;  // of that row, and of a slab's first column
    int64_t row, m_step, n_step;
} Sums;

// Rows [first, first + k) of packed columns of b: n columns, with `step` bytes per panel.
typedef struct Block {
    const char *pack;
    int64_t first, k, n, step;
    bool is_more, is_last;  // there are sums over earlier rows; there are no later rows
    Sums sums;
    char *y;  // if it is a half: of a slab's first column
} Block;

// An operand's part as the micro-kernel takes it: where it lies, or widened in `buffer`, in which
// the same dim is contiguous.
static RtSide side_of(const RtMicro *u, const RtGemm *g, float buffer[BUFFER], const void *x,
                      int64_t first, RtSide side)
{
    int64_t n = side.n, k = side.k;
    bool by_k = side.k_step == 1 || side.step != 1;

    side.at = rt_at(g->type, x, first);
    if (!rt_is_half(g->type) || u->type == g->type)
        return side;
    if (by_k)
        rt_read_floats(g->type, buffer, k, side.at, side.step, side.k_step, n, k);
    else
        rt_read_floats(g->type, buffer, n, side.at, side.k_step, side.step, k, n);
    return (RtSide){buffer, n, by_k ? k : 1, k, by_k ? 1 : n};
}

// Packs columns [at, at + k) of the panels `rows` of a, with `step` bytes per panel.
static void pack_part(const RtMicro *u, const RtGemm *g, char *to, int64_t step, const void *a,
                      Range rows, int64_t at, int64_t k)
{
    float buffer[BUFFER];

    for (int64_t i = rows.first; i < rows.last; i++, to += step) {
        int64_t row = i * u->rows, n = rt_least(u->rows, g->m - row);
        RtSide side = {buffer, n, k, k, 1};

        if (g->a_from)
            g->take(g->a_from, buffer, row, n, at, k);
        else
            side = side_of(u, g, buffer, a, row * g->a_m + at * g->a_k,
                           (RtSide){NULL, n, g->a_m, k, g->a_k});
        u->pack_rows(to, &side);
    }
}

// Multiplies panels `rows` of a, at most u->panels, with panels `columns` of b. For each part of k,
// a panel of b stays in the first-level cache while all panels of rows use it. The next panel of b
// is prefetched.
static void multiply_block(const RtMicro *u, const RtGemm *g, const void *a, Range rows,
                           Range columns, const Block *b)
{
    char a_pack[A_BYTES] __attribute__((aligned(64)));
    int64_t first = rows.first * u->rows, part = part_of(u, b->k, u->part);
    RtStrip s = {.m = rt_least(g->m, rows.last * u->rows) - first,
                 .y_m = b->sums.m_step,
                 .y_n = b->sums.n_step,
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
        s.y = b->sums.at + (first - b->sums.row) * s.y_m + j * u->columns * s.y_n;
        s.n = rt_least(u->columns, b->n - j * u->columns);
        s.b = b->pack + j * b->step;
        s.prefetched = s.b + b->step;
        u->multiply(&s);
    }
}

// Rounds a half y from its sums.
static void round_sums(const RtMicro *u, const RtGemm *g, Range rows, Range columns,
                       const Block *slab)
{
    const Sums *s = &slab->sums;
    int64_t row = rows.first * u->rows, column = columns.first * u->columns;
    int64_t m = rt_least(g->m, rows.last * u->rows) - row;
    int64_t n = rt_least(slab->n, columns.last * u->columns) - column;

    if (n > 0)
        rt_write_floats(g->result, rt_to(g->result, slab->y, row * g->y_m + column * g->y_n),
                        g->y_m, g->y_n, s->at + (row - s->row) * s->m_step + column, s->m_step, m,
                        n);
}

// Multiplies any number of panels of rows with a slab.
static void multiply(const RtMicro *u, const RtGemm *g, const void *a, Range rows, Range columns,
                     const Block *slab)
{
    int64_t k = part_of(u, slab->k, RT_BLOCK_K);

    for (int64_t r = rows.first; r < rows.last; r += u->panels) {
        Range some = {r, rt_least(rows.last, r + u->panels)};

        for (int64_t p = 0; p < slab->k; p += k) {
            Block b = *slab;
            b.pack += p * u->columns * u->bytes;
            b.first += p;
            b.k = rt_least(k, slab->k - p);
            b.is_more |= p > 0;
            multiply_block(u, g, a, some, columns, &b);
        }
        if (slab->y && slab->is_last)
            round_sums(u, g, some, columns, slab);
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
static void pack_panel(const RtMicro *u, const RtGemm *g, char *to, const void *b,
                       const Block *slab, int64_t column, int64_t n)
{
    float buffer[BUFFER];
    int64_t most = g->b_from || rt_is_half(g->type) ? u->part : slab->k;

    for (int64_t p = 0; p < slab->k; p += most) {
        int64_t at = slab->first + p, k = rt_least(most, slab->k - p);
        RtSide side = {buffer, n, 1, k, n};

        if (g->b_from)
            g->take(g->b_from, buffer, at, k, column, n);
        else
            side = side_of(u, g, buffer, b, at * g->b_k + column * g->b_n,
                           (RtSide){NULL, n, g->b_n, k, g->b_k});
        u->pack_columns(to + p * u->columns * u->bytes, &side);
    }
}

// Packs a thread's share of the panels of a slab, whose first column is `column` of b.
static void pack_slab(const RtMicro *u, const RtGemm *g, char *to, const void *b, const Block *slab,
                      int64_t column, int team, int rank)
{
    int64_t panels = rt_ceil_div(slab->n, u->columns), last = rt_partition(panels, rank + 1, team);

    for (int64_t q = rt_partition(panels, rank, team); q < last; q++)
        pack_panel(u, g, to + q * slab->step, b, slab, column + q * u->columns,
                   rt_least(u->columns, slab->n - q * u->columns));
}

// A thread of a team that multiplies slabs, and the packed slabs that the team shares.
typedef struct Team {
    int size, rank;
    char *pack, *next;  // memory of the next slab, and of the one after it
    int64_t column;     // of b, at which g's columns begin
} Team;

// Packs rows of b for the slab `s`, together.
static void pack_next(const RtMicro *u, const RtGemm *g, const void *b, Team *t, Block *s,
                      int64_t column)
{
    char *packed = t->pack;

    s->pack = packed;
    s->step = column_panel(u, s->k);
    pack_slab(u, g, packed, b, s, column, t->size, t->rank);
    if (t->size > 1) {
#pragma omp barrier
    }
    t->pack = t->next;
    t->next = packed;
}

// Multiplies the panels `rows` of a with the columns of `s`, for all of k. A slab that has all of k
// is packed for the first rows only.
static void multiply_rows(const RtMicro *u, const RtGemm *g, const void *a, const void *b, Team *t,
                          Range rows, Block *s, int64_t column)
{
    int64_t k = part_of(u, g->k, g->slab_k), panels = rt_ceil_div(s->n, u->columns);
    int down = row_groups(rows.last - rows.first, panels, t->size), across = t->size / down;
    int64_t i = t->rank / across, j = t->rank % across, all = rows.last - rows.first;
    Range own = {rows.first + rt_partition(all, i, down),
                 rows.first + rt_partition(all, i + 1, down)};
    Range columns = {rt_partition(panels, j, across), rt_partition(panels, j + 1, across)};

    for (s->first = 0; s->first < g->k; s->first += k) {
        s->k = rt_least(k, g->k - s->first);
        s->is_more = s->first > 0;
        s->is_last = s->first + k >= g->k;
        if (rows.first == 0 || g->k > k)
            pack_next(u, g, b, t, s, column);
        multiply(u, g, a, own, columns, s);
    }
}

// Panels of rows whose sums are kept at a time, if those of so many columns are; all rows of an f32
// y.
static int64_t kept_panels(const RtMicro *u, const RtGemm *g, int64_t columns)
{
    int64_t panels = rt_ceil_div(g->m, u->rows);

    return rt_is_half(g->result) ? rt_least(panels, g->n_sums / columns / u->rows) : panels;
}

// Computes y slab by slab, and a half y some panels of rows at a time. A packed slab is read until
// all threads have packed the next one, so there are two buffers.
static void multiply_slabs(const RtMicro *u, const RtGemm *g, void *y, const void *a, const void *b,
                           Team *t, int64_t kept)
{
    int64_t n = slab_n(g), panels = rt_ceil_div(g->m, u->rows);

    for (int64_t j = 0; j < g->n; j += n) {
        Block s = {.n = rt_least(n, g->n - j)};
        char *at = rt_to(g->result, y, j * g->y_n);

        for (int64_t r = 0; r < panels; r += kept) {
            Range rows = {r, rt_least(panels, r + kept)};

            s.y = rt_is_half(g->result) ? at : NULL;
            s.sums = s.y ? (Sums){g->sums, r * u->rows, n, 1}
                         : (Sums){(float *)(void *)at, 0, g->y_m, g->y_n};
            multiply_rows(u, g, a, b, t, rows, &s, t->column + j);
        }
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

// The thread's columns are a product of their own, and its parts of the pack and of the sums are
// its slab's.
static void multiply_columns(const RtMicro *u, const RtGemm *g, void *y, const void *a,
                             const void *b, char *pack, int team, int rank)
{
    int64_t panels = rt_ceil_div(g->n, u->columns), slab = slab_n(g) / u->columns;
    int64_t shared = g->n <= g->slab_n ? panels : rt_least(panels, 2 * slab);
    int64_t first = rt_partition(panels, rank, team) * u->columns,
            at = rt_partition(shared, rank, team);
    int64_t kept = kept_panels(u, g, shared * u->columns);
    RtGemm own = *g;

    own.n = rt_least(g->n, rt_partition(panels, rank + 1, team) * u->columns) - first;
    own.slab_n = (rt_partition(shared, rank + 1, team) - at) * u->columns;
    if (rt_is_half(g->result))
        own.sums += at * u->columns * kept * u->rows;
    pack += at * column_panel(u, part_of(u, g->k, g->slab_k));
    multiply_slabs(u, &own, rt_to(g->result, y, first * g->y_n), a, b,
                   &(Team){1, 0, pack, pack, first}, kept);
}

void rt_gemm(const RtGemm *g, void *y, const void *a, const void *b, void *pack, int team, int rank)
{
    const RtMicro *u = rt_gemm_micro(g);
    char *second = (char *)pack + (team > 1 ? slab_bytes(u, g) : 0);
    bool has_own = has_own_columns(u, g, team);

    if (u->begin)
        u->begin();
    if (has_own)
        multiply_columns(u, g, y, a, b, pack, team, rank);
    else
        multiply_slabs(u, g, y, a, b, &(Team){team, rank, pack, second, 0},
                       kept_panels(u, g, slab_n(g)));
    if (!has_own && team > 1) {
#pragma omp barrier
    }
    if (u->end)
        u->end();
}
