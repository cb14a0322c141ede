// The weight gradient of convolutions, over all samples and positions:
//     dw[o, c, tap] = Σ dy[i, o] · x[under the tap at i, c]
//
// x is read in place. The elements under a tap at neighbouring positions are a constant step apart,
// so for each tap a few runs of positions suffice, without the padding. A block of positions of dy
// is packed, one panel of channels at a time. It is multiplied with tiles of x's channels; each
// tile handles all its taps in a row, so that x's rows stay in the first-level cache.
#include "runtime/cpu/conv_product.h"

#include <string.h>

#include "runtime/cpu/tile.h"
#include "runtime/cpu/window.h"

#ifdef __AVX512F__
enum { TILE = 8 };  // channels of x
#else
enum { TILE = 4 };
#endif

enum {
    MIN_CHANNELS = 32,  // channels that keep the pipelines full
    POSITIONS = 256,    // maximum per block: a panel of them is two thirds of a first-level cache
    MAX_TAPS = 49,
    MAX_RUNS = 4096,  // of all taps in a block
};

// Positions [y, y + n) of a block; x is the offset of the element under the first one.
typedef struct Run {
    int64_t y, x, n;
} Run;

// The runs of tap t are [first[t], first[t + 1]).
typedef struct Runs {
    int first[MAX_TAPS + 1];
    Run run[MAX_RUNS];
} Runs;

typedef struct Product {
    RtKernel base;
    RtPool pool;
    int64_t c, o, taps, positions;
    int64_t tiles, panels;
    int64_t x_step;  // distance in x between neighbouring positions
} Product;

// The unused columns of the last panel are wasted work. If they are few, this is still faster than
// oneDNN.
static bool fills_panels(int64_t o) { return 8 * (rt_round_up(o, RT_NR) - o) <= o; }

bool rt_conv_product_fits(const RtConv *p)
{
    int n = p->window.n;
    int64_t taps = rt_product(p->window.size, n), rows = p->n * rt_product(p->y_dim, n - 1);
    int64_t width = p->y_dim[n - 1];

    return p->groups == 1 && p->x_last && p->y_last && p->c >= MIN_CHANNELS && p->c % TILE == 0 &&
           p->o >= MIN_CHANNELS && fills_panels(p->o) && rows * width > 0 && taps <= MAX_TAPS &&
           taps * rt_least(rows, POSITIONS / width + 2) <= MAX_RUNS;
}

// Appends a run to a tap's runs, or extends the last one.
static void add_run(const Product *d, Runs *r, int tap, Run more)
{
    Run *last = r->first[tap + 1] > r->first[tap] ? &r->run[r->first[tap + 1] - 1] : NULL;

    if (last && last->y + last->n == more.y && last->x + last->n * d->x_step == more.x)
        last->n += more.n;
    else if (more.n > 0)
        r->run[r->first[tap + 1]++] = more;
}

// The part of positions [first, last) of a row of y at which a tap's column isn't padding.
static Run in_row(const RtPool *q, int64_t column, int64_t first, int64_t last)
{
    int64_t start = rt_under(q, 2, 0, column), inside = q->x_dim[2] - start, s = q->stride[2];

    first = rt_most(first, start < 0 ? rt_ceil_div(-start, s) : 0);
    last = rt_least(last, inside > 0 ? rt_ceil_div(inside, s) : 0);
    return (Run){first, (start + first * s) * q->x_step[2], last - first};
}

// Lists the runs of one tap among positions [begin, end), counted over all samples.
static void list_tap(const Product *d, Runs *r, int tap, int64_t begin, int64_t end)
{
    const RtPool *q = &d->pool;
    int64_t column = tap % q->size[2], line = tap / q->size[2] % q->size[1];
    int64_t plane = tap / q->size[2] / q->size[1], width = q->y_dim[2];

    r->first[tap + 1] = r->first[tap];
    for (int64_t at = begin, next; at < end; at = next) {
        int64_t row = at / width, sample = row / q->y_dim[1] / q->y_dim[0];
        int64_t i = rt_under(q, 0, row / q->y_dim[1] % q->y_dim[0], plane);
        int64_t j = rt_under(q, 1, row % q->y_dim[1], line);

        next = rt_least(end, (row + 1) * width);
        if (i < 0 || i >= q->x_dim[0] || j < 0 || j >= q->x_dim[1])
            continue;
        Run run = in_row(q, column, at - row * width, next - row * width);
        run.y += row * width - begin;
        run.x += sample * q->x_sample + i * q->x_step[0] + j * q->x_step[1];
        add_run(d, r, tap, run);
    }
}

// to[i to_row + j] = Σ x[p, i] · pack[p, j] over the positions p of some runs; is_more adds to
// `to`.
static void multiply(float *to, int64_t to_row, bool is_more, const Run *run, const Run *end,
                     const float *x, int64_t x_step, const float *pack)
{
    float s[TILE][RT_NR] = {{0}};

    for (; run < end; run++) {
        const float *a = x + run->x, *b = pack + run->y * RT_NR;
        for (int64_t p = 0; p < run->n; p++, a += x_step, b += RT_NR)
            for (int i = 0; i < TILE; i++)
#pragma omp simd
                for (int j = 0; j < RT_NR; j++)
                    s[i][j] = RT_FMA(a[i], b[j], s[i][j]);
    }
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < RT_NR; j++)
            to[i * to_row + j] = is_more ? to[i * to_row + j] + s[i][j] : s[i][j];
}

// Adds the contribution of positions [begin, end) to units [first, last). A unit is a panel of y's
// channels by a tile of x's. sums: [panels][c][taps][RT_NR].
static void add_positions(const Product *d, int64_t begin, int64_t end, int64_t first, int64_t last,
                          float *sums, const float *x, const float *dy)
{
    float pack[POSITIONS * RT_NR] __attribute__((aligned(64)));
    Runs r;

    r.first[0] = 0;
    for (int t = 0; t < d->taps; t++)
        list_tap(d, &r, t, begin, end);
    for (int64_t u = first; u < last; u++) {
        int64_t panel = u / d->tiles, c = u % d->tiles * TILE;
        if (u == first || c == 0)
            rt_pack_panel(pack, dy + begin * d->o + panel * RT_NR, d->o, 1, end - begin,
                          rt_least(RT_NR, d->o - panel * RT_NR));
        for (int64_t t = 0; t < d->taps; t++)
            multiply(sums + (u * TILE * d->taps + t) * RT_NR, d->taps * RT_NR, begin > 0,
                     r.run + r.first[t], r.run + r.first[t + 1], x + c, d->x_step, pack);
    }
}

// to[j to_row + i] = from[i RT_NR + j].
static void transpose(float *to, int64_t to_row, const float *from, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i += RT_TRANSPOSE_BLOCK)
        for (int64_t j = 0; j < columns; j += RT_TRANSPOSE_BLOCK) {
            int64_t m = rt_least(RT_TRANSPOSE_BLOCK, rows - i),
                    n = rt_least(RT_TRANSPOSE_BLOCK, columns - j);
            const float *block = from + i * RT_NR + j;

            if (m == RT_TRANSPOSE_BLOCK && n == RT_TRANSPOSE_BLOCK) {
                rt_transpose_block(to + j * to_row + i, to_row, block, RT_NR);
                continue;
            }
            for (int64_t k = 0; k < n; k++)
                for (int64_t l = 0; l < m; l++)
                    to[(j + k) * to_row + i + l] = block[l * RT_NR + k];
        }
}

// Writes dw of the units [first, last) from their sums.
static void finish(const Product *d, int64_t first, int64_t last, float *dw, const float *sums)
{
    int64_t row = d->c * d->taps, unit = TILE * d->taps;

    for (int64_t u = first, next; u < last; u = next) {
        int64_t panel = u / d->tiles, o = panel * RT_NR;
        next = rt_least(last, (panel + 1) * d->tiles);
        transpose(dw + o * row + u % d->tiles * unit, row, sums + u * unit * RT_NR,
                  (next - u) * unit, rt_least(RT_NR, d->o - o));
    }
}

static void run(Rt *rt, RtKernel *kernel, void *dw, const void *x, const void *dy)
{
    const Product *d = (const Product *)kernel;
    int64_t units = d->panels * d->tiles;
    float *sums = (float *)rt->workspace;

#pragma omp parallel num_threads(rt_team(rt, d->positions * d->o * d->c * d->taps / 16))
    {
        int rank = omp_get_thread_num(), team = omp_get_num_threads();
        int64_t first = rt_partition(units, rank, team), last = rt_partition(units, rank + 1, team);

        for (int64_t at = 0; at < d->positions; at += POSITIONS)
            add_positions(d, at, rt_least(d->positions, at + POSITIONS), first, last, sums, x, dy);
        finish(d, first, last, dw, sums);
    }
}

void rt_conv_product_prepare(Rt *rt, int kernel, const RtConv *p)
{
    Product *d = rt_kernel_new(rt, kernel, sizeof *d);
    RtPool *q = &d->pool;

    *q = rt_pool(p);
    d->base.run = run;
    d->c = p->c;
    d->o = p->o;
    d->taps = rt_product(q->size, 3);
    d->positions = p->n * rt_product(q->y_dim, 3);
    d->tiles = p->c / TILE;
    d->panels = rt_ceil_div(p->o, RT_NR);
    d->x_step = q->stride[2] * q->x_step[2];
}
