// Convolutions of halves by convolutions of f32.
#include "runtime/cpu/conv_widened.h"

enum { X, W, Y, PART, BUFFERS };  // PART: the gradient of weights of some samples

enum { POSITIONS = 64, ELEMENTS = 4096 };  // that a thread converts together

// Samples of x or y: channels at positions.
typedef struct Samples {
    int64_t n, channels, positions;
    bool is_last;  // channels last
} Samples;

typedef struct Widened {
    RtKernel base;
    RtConvDirection direction;
    RtKernel *inner;  // of f32
    RtType type, result;
    int64_t n, step;  // samples; those of the inner kernel
    Samples x, y;     // of the inner kernel
    int64_t weights;
    int64_t offset[BUFFERS + 1];  // in the workspace, in bytes; the last is the inner kernel's
} Widened;

static void release(RtKernel *kernel)
{
    const Widened *d = (const Widened *)kernel;

    if (d->inner->release)
        d->inner->release(d->inner);
    free(d->inner);
}

static int64_t count(const Samples *s) { return s->n * s->channels * s->positions; }

// Widens samples to f32 with channels last, or rounds them back.
static void convert_samples(Rt *rt, const Samples *s, RtType t, float *f, void *half, bool is_back)
{
    int64_t parts = rt_ceil_div(s->positions, POSITIONS);
    int64_t row = s->is_last ? s->channels : 1, col = s->is_last ? 1 : s->positions;

#pragma omp parallel for num_threads(rt_team(rt, count(s))) schedule(static)
    for (int64_t i = 0; i < s->n * parts; i++) {
        int64_t at = i % parts * POSITIONS, rows = rt_least(POSITIONS, s->positions - at);
        int64_t sample = i / parts * s->channels * s->positions;
        char *x = rt_to(t, half, sample + at * row);
        float *to = f + sample + at * s->channels;

        if (is_back)
            rt_write_floats(t, x, row, col, to, s->channels, rows, s->channels);
        else
            rt_read_floats(t, to, s->channels, x, row, col, rows, s->channels);
    }
}

static void convert_weights(Rt *rt, RtType t, float *f, void *half, int64_t n, bool is_back)
{
#pragma omp parallel for num_threads(rt_team(rt, n)) schedule(static)
    for (int64_t i = 0; i < n; i += ELEMENTS) {
        int64_t columns = rt_least(ELEMENTS, n - i);

        if (is_back)
            rt_write_floats(t, rt_to(t, half, i), 0, 1, f + i, 0, 1, columns);
        else
            rt_read_floats(t, f + i, 0, rt_at(t, half, i), 0, 1, 1, columns);
    }
}

static float *buffer(const Widened *d, const Rt *rt, int i)
{
    return (float *)(void *)(rt->workspace + d->offset[i]);
}

static void run_inner(const Widened *d, const Rt *rt, float *result, const float *left,
                      const float *right)
{
    Rt inner = *rt;

    inner.workspace += d->offset[BUFFERS];
    d->inner->run(&inner, d->inner, result, left, right);
}

// The address of sample `n` of x or y.
static void *sample_at(const Samples *s, RtType t, const void *x, int64_t n)
{
    return rt_to(t, (void *)(uintptr_t)x, n * s->channels * s->positions);
}

// y, or dx, which take the roles of result and operand.
static void run_samples(Rt *rt, RtKernel *kernel, void *result, const void *left, const void *right)
{
    const Widened *d = (const Widened *)kernel;
    bool is_back = d->direction == RT_CONV_INPUT_GRAD;
    const Samples *from = is_back ? &d->y : &d->x, *to = is_back ? &d->x : &d->y;
    float *f = buffer(d, rt, is_back ? Y : X), *y = buffer(d, rt, is_back ? X : Y);
    float *w = buffer(d, rt, W);

    convert_weights(rt, d->type, w, (void *)(uintptr_t)right, d->weights, false);
    for (int64_t n = 0; n < d->n; n += d->step) {
        convert_samples(rt, from, d->type, f, sample_at(from, d->type, left, n), false);
        run_inner(d, rt, y, f, w);
        convert_samples(rt, to, d->result, y, sample_at(to, d->result, result, n), true);
    }
}

static void run_weights(Rt *rt, RtKernel *kernel, void *dw, const void *x, const void *dy)
{
    const Widened *d = (const Widened *)kernel;
    float *sum = buffer(d, rt, W), *part = buffer(d, rt, PART);

    memset(sum, 0, sizeof *sum * (size_t)d->weights);
    for (int64_t n = 0; n < d->n; n += d->step) {
        convert_samples(rt, &d->x, d->type, buffer(d, rt, X), sample_at(&d->x, d->type, x, n),
                        false);
        convert_samples(rt, &d->y, d->type, buffer(d, rt, Y), sample_at(&d->y, d->type, dy, n),
                        false);
        run_inner(d, rt, part, buffer(d, rt, X), buffer(d, rt, Y));
#pragma omp parallel for simd num_threads(rt_team(rt, d->weights)) schedule(static)
        for (int64_t i = 0; i < d->weights; i++)
            sum[i] += part[i];
    }
    convert_weights(rt, d->result, sum, dw, d->weights, true);
}

void rt_conv_widened_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction,
                             void (*prepare)(Rt *rt, int kernel, const RtConv *p))
{
    RtConv inner = rt_conv_of_f32(p);
    int spatial = p->window.n;

    prepare(rt, kernel, &inner);
    RtKernel *of_f32 = rt->kernel[kernel];
    Widened *d = rt_kernel_new(rt, kernel, sizeof *d);
    d->base.release = release;
    d->base.run = direction == RT_CONV_WEIGHT_GRAD ? run_weights : run_samples;
    d->direction = direction;
    d->inner = of_f32;
    d->type = p->type;
    d->result = p->result == RT_NONE ? p->type : p->result;
    d->n = p->n;
    d->step = rt_most(1, inner.n);
    d->x = (Samples){inner.n, p->c, rt_product(p->x_dim, spatial), p->x_last};
    d->y = (Samples){inner.n, p->o, rt_product(p->y_dim, spatial), p->y_last};
    d->weights = rt_conv_weights(p);
    int64_t elements[BUFFERS] = {count(&d->x), d->weights, count(&d->y), d->weights};
    for (int i = 0; i < BUFFERS; i++)
        d->offset[i + 1] =
            d->offset[i] + rt_round_up(elements[i] * (int64_t)sizeof(float), RT_BUFFER_BYTES);
}
