// Convolutions with channels last as matrix products, whose operands are gathered, and halves
// widened, while they are packed.
#include "runtime/cpu/conv_matrix.h"

#include "runtime/cpu/amx.h"
#include "runtime/cpu/amx_block.h"
#include "runtime/cpu/conv_product.h"
#include "runtime/cpu/floats.h"
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

// The operand of `take`: a tensor whose elements under the window's taps are gathered. The
// micro-kernel takes them as they are, or widened.
typedef struct Taken {
    const RtPool *pool;
    const void *x;
    int64_t channels;
    RtType type;
    bool is_widened;
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

// The channels under a tap at a position: an offset in x; -1: padding.
static int64_t under(const Taken *t, const At *p, const int64_t tap[3])
{
    const RtPool *q = t->pool;
    int64_t x = p->sample * q->x_sample;

    for (int k = 0; k < 3; k++) {
        int64_t at = rt_under(q, k, p->at[k], tap[k]);

        if (at < 0 || at >= q->x_dim[k])
            return -1;
        x += at * q->x_step[k];
    }
    return x;
}

// Moves one row of channels to `to`.
static void take_row(const Taken *t, void *to, int64_t x, int64_t n)
{
    int bytes = t->is_widened ? (int)sizeof(float) : rt_type_bytes(t->type);

    if (x < 0)
        memset(to, 0, (size_t)(n * bytes));
    else if (t->is_widened)
        rt_read_floats(t->type, to, 0, rt_at(t->type, t->x, x), 0, 1, 1, n);
    else
        memcpy(to, rt_at(t->type, t->x, x), (size_t)(n * bytes));
}

// RtGemm.take: gathers elements [at, at + length) of (tap, channel) for positions [first, first +
// n), in rows of `length`.
static void take(const void *from, void *to, int64_t first, int64_t n, int64_t at, int64_t length)
{
    const Taken *t = from;
    const RtPool *q = t->pool;
    RtType type = t->is_widened ? RT_F32 : t->type;

    for (int64_t done = 0, length_left; done < length; done += length_left) {
        int64_t i = (at + done) / t->channels, channel = (at + done) % t->channels;
        int64_t tap[] = {i / q->size[2] / q->size[1], i / q->size[2] % q->size[1], i % q->size[2]};
        At p = coordinates_of(q, first);

        length_left = rt_least(t->channels - channel, length - done);
        for (int64_t r = 0; r < n; r++, next_position(q, &p)) {
            int64_t x = under(t, &p, tap);

            take_row(t, rt_to(type, to, r * length + done), x < 0 ? x : x + channel, length_left);
        }
    }
}

static int64_t sums_bytes(const RtGemm *g)
{
    return rt_round_up(g->n_sums * (int64_t)sizeof(float), 64);
}

// In the workspace, the packed slabs follow a copy of the weights and the sums.
static char *pack_at(const Matrix *d, char *workspace)
{
    return workspace + d->weights_bytes + sums_bytes(&d->g);
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
    RtGemm g = {.y_n = 1,
                .slab_k = RT_SLAB_K,
                .slab_n = RT_SLAB_N,
                .type = p->type,
                .result = p->result == RT_NONE ? p->type : p->result};

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
    g.n_sums = rt_product_sums(g.result, g.m, g.n, RT_SUMS);
    return g;
}

static RtType weights_type(const RtGemm *g, RtConvDirection direction)
{
    return direction == RT_CONV_WEIGHT_GRAD ? g->result : g->type;
}

static int64_t weights_bytes(const RtConv *p, RtType t)
{
    int64_t taps = rt_product(p->window.size, p->window.n);

    return taps == 1 ? 0 : rt_round_up(p->o * p->c * taps * rt_type_bytes(t), 64);
}

// Without a matrix unit oneDNN is as fast, except for the gradient of weights with more input than
// output channels: there x has long contiguous rows. It takes no halves. If those are
// widened anyway, rt_conv_product reads x once and not once for each tap.
bool rt_conv_matrix_fits(const RtConv *p, RtConvDirection direction)
{
    // Weights, and channels that are gathered together; with fewer, the copies dominate the time.
    enum { MIN_WEIGHTS = 8192, MIN_CHANNELS = 16 };
    RtGemm g = gemm_of(p, direction);
    int64_t weights = p->o * p->c * rt_product(p->window.size, p->window.n);
    int64_t channels = direction == RT_CONV_INPUT_GRAD ? p->o : p->c;
    bool is_half = rt_is_half(p->type) && (is_plain(p) || channels >= MIN_CHANNELS);
    bool is_fast = weights >= MIN_WEIGHTS && rt_amx_fits(g.m, g.n, g.k) && rt_micro_amx();
    bool is_widened = rt_is_half(p->type) && rt_gemm_micro(&g)->type != p->type;
    bool is_product =
        direction == RT_CONV_WEIGHT_GRAD && is_widened && !is_plain(p) && rt_conv_product_fits(p);
    bool is_long = direction == RT_CONV_WEIGHT_GRAD && is_plain(p) && g.m > 1 && g.n > g.m;

    return p->groups == 1 && !is_product && p->x_last && p->y_last && g.m > 0 && g.k > 0 &&
           (is_fast || is_long || is_half) &&
           (direction != RT_CONV_INPUT_GRAD || goes_by_ones(p)) &&
           weights_bytes(p, weights_type(&g, direction)) + sums_bytes(&g) + 2 * rt_gemm_slab(&g) <=
               rt_conv_workspace(p);
}

// Moves an element. Callers pass a constant number of bytes.
static inline void move(void *to, int64_t i, const void *from, int64_t k, size_t bytes)
{
    memcpy((char *)to + (size_t)i * bytes, (const char *)from + (size_t)k * bytes, bytes);
}

// Reorders w[o][c][tap] to to[o][tap][c], or back.
static inline void reorder(const Matrix *d, void *to, const void *w, bool is_back, size_t bytes)
{
    int64_t n = d->c * d->taps;

#pragma omp for schedule(static)
    for (int64_t o = 0; o < d->o; o++)
        for (int64_t t = 0; t < d->taps; t++)
            for (int64_t c = 0; c < d->c; c++) {
                int64_t by_tap = o * n + t * d->c + c, by_channel = o * n + c * d->taps + t;
                if (is_back)
                    move(to, by_channel, w, by_tap, bytes);
                else
                    move(to, by_tap, w, by_channel, bytes);
            }
}

static void reorder_weights(const Matrix *d, RtType t, void *to, const void *w, bool is_back)
{
    if (rt_is_half(t))
        reorder(d, to, w, is_back, sizeof(uint16_t));
    else
        reorder(d, to, w, is_back, sizeof(float));
}

// Reorders w[o][c][tap] to to[tap][o][c] with the taps in reverse order.
static inline void mirror(const Matrix *d, void *to, const void *w, size_t bytes)
{
#pragma omp for schedule(static)
    for (int64_t o = 0; o < d->o; o++)
        for (int64_t t = 0; t < d->taps; t++)
            for (int64_t c = 0; c < d->c; c++)
                move(to, ((d->taps - 1 - t) * d->o + o) * d->c + c, w, (o * d->c + c) * d->taps + t,
                     bytes);
}

static void mirror_weights(const Matrix *d, RtType t, void *to, const void *w)
{
    if (rt_is_half(t))
        mirror(d, to, w, sizeof(uint16_t));
    else
        mirror(d, to, w, sizeof(float));
}

// A thread's share of y or dx. `from`: x or dy.
static void multiply_rows(const Matrix *d, const RtGemm *g, char *workspace, void *result,
                          const void *from, const void *w)
{
    void *by_tap = workspace;

    if (d->taps > 1 && d->direction == RT_CONV)
        reorder_weights(d, g->type, by_tap, w, false);
    else if (d->taps > 1)
        mirror_weights(d, g->type, by_tap, w);
    rt_gemm(g, result, from, d->taps > 1 ? by_tap : w, pack_at(d, workspace), omp_get_num_threads(),
            omp_get_thread_num());
}

// A thread's share of dw.
static void multiply_columns(const Matrix *d, const RtGemm *g, char *workspace, void *dw,
                             const void *x, const void *dy)
{
    void *by_tap = workspace;

    rt_gemm(g, d->taps > 1 ? by_tap : dw, dy, x, pack_at(d, workspace), omp_get_num_threads(),
            omp_get_thread_num());
    if (d->taps == 1)
        return;
#pragma omp barrier
    reorder_weights(d, g->result, dw, by_tap, true);
}

static void run(Rt *rt, RtKernel *kernel, void *result, const void *left, const void *right)
{
    const Matrix *d = (const Matrix *)kernel;
    RtType t = d->g.type;
    bool is_widened = rt_is_half(t) && rt_gemm_micro(&d->g)->type != t;
    Taken taken = {&d->pool, left, d->channels, t, is_widened};
    RtGemm g = d->g;

    g.take = take;
    g.sums = (float *)(void *)(rt->workspace + d->weights_bytes);
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
    d->weights_bytes = weights_bytes(p, weights_type(&d->g, direction));
}
