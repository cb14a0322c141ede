// Convolutions with channels last as matrix products, whose operands are gathered while they are
// packed.
#include "runtime/cpu/conv_matrix.h"

#include "runtime/cpu/amx.h"
#include "runtime/cpu/amx_block.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/window.h"

typedef struct Matrix {
    RtKernel base;
    RtConvDirection direction;
    RtGemm g;
    RtPool pool;         // of the tensor that `take` gathers rows from
    int64_t c, o, taps;  // of the weights: input channels, output channels, taps
    int64_t channels;    // of a row, per tap
    bool is_taken;  // false: the window has one tap, and the rows are those of the tensor itself
    int64_t weights_bytes;  // of a copy of the weights, or of their gradient, with taps before
                            // channels; 0: none is needed
} Matrix;

// The operand of `take`: a tensor whose elements under the window's taps are gathered.
typedef struct Taken {
    const RtPool *pool;
    const float *x;
    int64_t channels;
} Taken;

// The coordinates of position `i`, counted over all samples.
typedef struct At {
    int64_t sample, at[3];
} At;

static At coordinates_of(const RtPool *q, int64_t i)
{
    At p;

    for (int k = 2; k >= 0; k--) {
        p.at[k] = i % q->y_dim[k];
        i /= q->y_dim[k];
    }
    p.sample = i;
    return p;
}

static void next_position(const RtPool *q, At *p)
{
    for (int k = 2; k >= 0; k--) {
        if (++p->at[k] < q->y_dim[k])
            return;
        p->at[k] = 0;
    }
    p->sample++;
}

// The channels under a tap at a position; NULL: padding.
static const float *under(const Taken *t, const At *p, const int64_t tap[3])
{
    const RtPool *q = t->pool;
    const float *x = t->x + p->sample * q->x_sample;

    for (int k = 0; k < 3; k++) {
        int64_t at = rt_under(q, k, p->at[k], tap[k]);

        if (at < 0 || at >= q->x_dim[k])
            return NULL;
        x += at * q->x_step[k];
    }
    return x;
}

// RtGemm.take: gathers elements [at, at + length) of (tap, channel) for positions [first, first +
// n), in rows of `length`.
static void take(const void *from, void *to, int64_t first, int64_t n, int64_t at, int64_t length)
{
    const Taken *t = from;
    const RtPool *q = t->pool;

    for (int64_t done = 0, length_left; done < length; done += length_left) {
        int64_t i = (at + done) / t->channels, channel = (at + done) % t->channels;
        int64_t tap[] = {i / q->size[2] / q->size[1], i / q->size[2] % q->size[1], i % q->size[2]};
        At p = coordinates_of(q, first);

        length_left = rt_least(t->channels - channel, length - done);
        for (int64_t r = 0; r < n; r++, next_position(q, &p)) {
            const float *x = under(t, &p, tap);
            float *row = (float *)to + r * length + done;

            if (x)
                memcpy(row, x + channel, sizeof(float) * (size_t)length_left);
            else
                memset(row, 0, sizeof(float) * (size_t)length_left);
        }
    }
}

// Are the matrix's rows those of the tensor itself? True for a window of one tap.
static bool is_plain(const RtConv *p)
{
    for (int i = 0; i < p->window.n; i++)
        if (p->window.size[i] != 1 || p->window.low[i] || p->x_dim[i] != p->y_dim[i])
            return false;
    return true;
}

// The convolution that computes dx from dy; its taps are in reverse order.
static RtConv mirrored(const RtConv *p)
{
    RtConv m = *p;

    m.c = p->o;
    m.o = p->c;
    for (int i = 0; i < p->window.n; i++) {
        m.x_dim[i] = p->y_dim[i];
        m.y_dim[i] = p->x_dim[i];
        m.window.low[i] = (p->window.size[i] - 1) * p->window.dilation[i] - p->window.low[i];
    }
    return m;
}

static bool goes_by_ones(const RtConv *p)
{
    for (int i = 0; i < p->window.n; i++)
        if (p->window.stride[i] != 1)
            return false;
    return true;
}

// For the weight gradient, slabs of x fit a second-level cache, since each thread reads a whole
// slab.
static RtGemm gemm_of(const RtConv *p, RtConvDirection direction)
{
    int64_t taps = rt_product(p->window.size, p->window.n);
    int64_t y = p->n * rt_product(p->y_dim, p->window.n);
    int64_t x = p->n * rt_product(p->x_dim, p->window.n);
    RtGemm g = {.y_n = 1, .slab_k = RT_SLAB_K, .slab_n = RT_SLAB_N};

    if (direction == RT_CONV) {
        g.m = y;
        g.n = g.y_m = p->o;
        g.k = g.b_n = taps * p->c;
        g.a_m = p->c;
        g.a_k = g.b_k = 1;
    } else if (direction == RT_CONV_INPUT_GRAD) {
        g.m = x;
        g.n = g.y_m = g.b_k = p->c;
        g.k = taps * p->o;
        g.a_m = p->o;
        g.a_k = g.b_n = 1;
    } else {
        g.m = g.a_k = p->o;
        g.n = g.y_m = g.b_k = taps * p->c;
        g.k = y;
        g.a_m = g.b_n = 1;
        g.slab_k = RT_BLOCK_K;
    }
    return g;
}

static int64_t weights_bytes(const RtConv *p)
{
    int64_t taps = rt_product(p->window.size, p->window.n);

    return taps == 1 ? 0 : rt_round_up(p->o * p->c * taps * (int64_t)sizeof(float), 64);
}

// Without a matrix unit oneDNN is as fast, except for the gradient of weights with more input than
// output channels: there x has long contiguous rows.
bool rt_conv_matrix_fits(const RtConv *p, RtConvDirection direction)
{
    enum { MIN_WEIGHTS = 8192 };  // weights; with fewer, the copies dominate the time
    RtGemm g = gemm_of(p, direction);
    int64_t weights = p->o * p->c * rt_product(p->window.size, p->window.n);
    bool is_fast = weights >= MIN_WEIGHTS && rt_amx_fits(g.m, g.n, g.k) && rt_micro_amx();
    bool is_long = direction == RT_CONV_WEIGHT_GRAD && is_plain(p) && g.m > 1 && g.n > g.m;

    return p->groups == 1 && p->x_last && p->y_last && g.m > 0 && g.k > 0 && (is_fast || is_long) &&
           (direction != RT_CONV_INPUT_GRAD || goes_by_ones(p)) &&
           weights_bytes(p) + 2 * rt_gemm_slab(&g) <= rt_conv_workspace(p);
}

// Reorders w[o][c][tap] to to[o][tap][c], or back.
static void reorder_weights(const Matrix *d, float *to, const float *w, bool is_back)
{
    int64_t n = d->c * d->taps;

#pragma omp for schedule(static)
    for (int64_t o = 0; o < d->o; o++)
        for (int64_t t = 0; t < d->taps; t++)
            for (int64_t c = 0; c < d->c; c++) {
                int64_t by_tap = o * n + t * d->c + c, by_channel = o * n + c * d->taps + t;
                if (is_back)
                    to[by_channel] = w[by_tap];
                else
                    to[by_tap] = w[by_channel];
            }
}

// Reorders w[o][c][tap] to to[tap][o][c] with the taps in reverse order.
static void mirror_weights(const Matrix *d, float *to, const float *w)
{
#pragma omp for schedule(static)
    for (int64_t o = 0; o < d->o; o++)
        for (int64_t t = 0; t < d->taps; t++)
            for (int64_t c = 0; c < d->c; c++)
                to[((d->taps - 1 - t) * d->o + o) * d->c + c] = w[(o * d->c + c) * d->taps + t];
}

// A thread's share of y or dx. `from`: x or dy.
static void multiply_rows(const Matrix *d, const RtGemm *g, char *workspace, float *result,
                          const float *from, const float *w)
{
    float *by_tap = (float *)workspace;

    if (d->taps > 1 && d->direction == RT_CONV)
        reorder_weights(d, by_tap, w, false);
    else if (d->taps > 1)
        mirror_weights(d, by_tap, w);
    rt_gemm(g, result, from, d->taps > 1 ? by_tap : w, workspace + d->weights_bytes,
            omp_get_num_threads(), omp_get_thread_num());
}

// A thread's share of dw.
static void multiply_columns(const Matrix *d, const RtGemm *g, char *workspace, float *dw,
                             const float *x, const float *dy)
{
    float *by_tap = (float *)workspace;

    rt_gemm(g, d->taps > 1 ? by_tap : dw, dy, x, workspace + d->weights_bytes,
            omp_get_num_threads(), omp_get_thread_num());
    if (d->taps == 1)
        return;
#pragma omp barrier
    reorder_weights(d, dw, by_tap, true);
}

static void run(Rt *rt, int kernel, void *result, const void *left, const void *right)
{
    const Matrix *d = rt->kernel[kernel];
    Taken taken = {&d->pool, left, d->channels};
    RtGemm g = d->g;

    g.take = take;
    if (d->is_taken && d->direction == RT_CONV_WEIGHT_GRAD)
        g.b_from = &taken;
    else if (d->is_taken)
        g.a_from = &taken;
#pragma omp parallel num_threads(rt_team(rt, g.m *g.n *g.k / 16))
    if (d->direction == RT_CONV_WEIGHT_GRAD)
        multiply_columns(d, &g, rt->workspace, result, left, right);
    else
        multiply_rows(d, &g, rt->workspace, result, left, right);
}

void rt_conv_matrix_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction)
{
    Matrix *d = rt_kernel_new(rt, kernel, sizeof *d);
    RtConv rows = direction == RT_CONV_INPUT_GRAD ? mirrored(p) : *p;

    d->base.run = run;
    d->direction = direction;
    d->g = gemm_of(p, direction);
    d->pool = rt_pool(&rows);
    d->c = p->c;
    d->o = p->o;
    d->taps = rt_product(p->window.size, p->window.n);
    d->channels = rows.c;
    d->is_taken = !is_plain(p);
    d->weights_bytes = weights_bytes(p);
}
