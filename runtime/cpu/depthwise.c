// The weight gradient of depthwise convolutions. A thread takes a block of channels and a chunk of
// y's rows. It goes along each row once for every row of the window, with the sums of that row's
// taps in registers. Chunks depend on the shape alone and are added in order.
#include "runtime/cpu/depthwise.h"

#include <string.h>

#include "runtime/cpu/window.h"

enum { LANES = 16, MAX_TAPS = 128 };

// LanesAt: in memory, aligned as a float only. Functions neither take nor return Lanes: how they
// would depends on the CPU's vectors, and gcc warns of it.
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef Lanes LanesAt __attribute__((aligned(4), may_alias));

typedef struct Depthwise {
    RtKernel base;
    RtPool pool;
    int64_t c, taps;               // channels; taps of a window
    int64_t blocks, rows, chunks;  // blocks of channels; rows of y in all samples; chunks of rows
    int64_t first, last;           // positions of a row whose windows have no padding
} Depthwise;

bool rt_depthwise_fits(const RtConv *p)
{
    int64_t size = p->window.size[p->window.n - 1];

    return p->groups == p->c && p->groups == p->o && p->x_last && p->y_last && p->c >= LANES &&
           (size == 5 || size == 7) && rt_product(p->window.size, p->window.n) <= MAX_TAPS;
}

// Adds the contribution of one row of y to the sums of a row of the window. x is the row under tap
// 0 of position 0, as if there were no padding. Inlined, so that `size` is a constant.
static inline __attribute__((always_inline)) void add_row(const Depthwise *d, int size, float *sum,
                                                          const float *x, const float *dy)
{
    static const float zeros[LANES];
    const RtPool *q = &d->pool;
    int64_t start = -q->low[2], tap = q->dilation[2] * d->c;
    Lanes s[7];

    for (int k = 0; k < size; k++)
        s[k] = *(const LanesAt *)(sum + k * LANES);
    for (int64_t j = 0; j < q->y_dim[2]; j++, start += q->stride[2]) {
        Lanes y = *(const LanesAt *)(dy + j * d->c);
        const float *at = x + start * d->c;
        if (j >= d->first && j < d->last) {
#pragma GCC unroll 7
            for (int k = 0; k < size; k++)
                s[k] += y * *(const LanesAt *)(at + k * tap);
            continue;
        }
#pragma GCC unroll 7
        for (int k = 0; k < size; k++) {
            int64_t i = start + k * q->dilation[2];
            s[k] += y * *(const LanesAt *)(i >= 0 && i < q->x_dim[2] ? at + k * tap : zeros);
        }
    }
    for (int k = 0; k < size; k++)
        *(LanesAt *)(sum + k * LANES) = s[k];
}

static void add_row_of(const Depthwise *d, float *sum, const float *x, const float *dy)
{
    if (d->pool.size[2] == 5)
        add_row(d, 5, sum, x, dy);
    else
        add_row(d, 7, sum, x, dy);
}

// Adds row `r` of y, counted over all samples, for all rows of the window.
static void add_rows(const Depthwise *d, int64_t r, float *sum, const float *x, const float *dy)
{
    const RtPool *q = &d->pool;
    int64_t j = r % q->y_dim[1], i = r / q->y_dim[1] % q->y_dim[0];
    int64_t sample = r / q->y_dim[1] / q->y_dim[0];
    RtTaps planes = rt_taps(q, 0, i), rows = rt_taps(q, 1, j);

    x += sample * q->x_sample;
    dy += sample * q->y_sample + i * q->y_step[0] + j * q->y_step[1];
    for (int64_t a = planes.first; a < planes.last; a++)
        for (int64_t b = rows.first; b < rows.last; b++)
            add_row_of(d, sum + (a * q->size[1] + b) * q->size[2] * LANES,
                       x + (planes.start + a * q->dilation[0]) * q->x_step[0] +
                           (rows.start + b * q->dilation[1]) * q->x_step[1],
                       dy);
}

// The last block of channels may overlap the one before it, and skips the channels that the other
// one stores.
static void add_chunk(const Depthwise *d, int64_t block, int64_t chunk, float *to, const float *x,
                      const float *dy)
{
    int64_t channel = rt_least(block * LANES, d->c - LANES);
    float sum[MAX_TAPS * LANES];

    memset(sum, 0, sizeof *sum * (size_t)(d->taps * LANES));
    for (int64_t r = rt_partition(d->rows, chunk, d->chunks);
         r < rt_partition(d->rows, chunk + 1, d->chunks); r++)
        add_rows(d, r, sum, x + channel, dy + channel);
    for (int64_t c = block * LANES; c < channel + LANES; c++)
        for (int64_t t = 0; t < d->taps; t++)
            to[c * d->taps + t] = sum[t * LANES + c - channel];
}

static void run(Rt *rt, RtKernel *kernel, void *result, const void *x, const void *dy)
{
    const Depthwise *d = (const Depthwise *)kernel;
    int64_t count = d->c * d->taps;
    float *dw = result, *part = (float *)rt->workspace;

#pragma omp parallel for num_threads(rt_team(rt, d->rows * d->pool.y_dim[2] * count))              \
    schedule(static)
    for (int64_t i = 0; i < d->blocks * d->chunks; i++)
        add_chunk(d, i / d->chunks, i % d->chunks, part + i % d->chunks * count, x, dy);
#pragma omp parallel for num_threads(rt_team(rt, count * d->chunks)) schedule(static)
    for (int64_t i = 0; i < count; i++) {
        double total = 0;
        for (int64_t k = 0; k < d->chunks; k++)
            total += (double)part[k * count + i];
        dw[i] = (float)total;
    }
}

// The chunks' sums fit the part of rt_conv_workspace for the weights, or its 1 MiB.
void rt_depthwise_prepare(Rt *rt, int kernel, const RtConv *p)
{
    Depthwise *d = rt_kernel_new(rt, kernel, sizeof *d);
    RtPool *q = &d->pool;

    *q = rt_pool(p);
    d->base.run = run;
    d->c = p->c;
    d->taps = rt_product(q->size, 3);
    d->blocks = rt_ceil_div(p->c, LANES);
    d->rows = p->n * q->y_dim[0] * q->y_dim[1];
    d->chunks = rt_most(1, rt_least(d->rows, rt_ceil_div(RT_CHUNKS, d->blocks)));
    int64_t inside = q->x_dim[2] - 1 + q->low[2] - (q->size[2] - 1) * q->dilation[2];
    d->first = rt_least(rt_ceil_div(q->low[2], q->stride[2]), q->y_dim[2]);
    d->last = inside < 0 ? d->first : rt_least(inside / q->stride[2] + 1, q->y_dim[2]);
    d->last = rt_most(d->first, d->last);
}
