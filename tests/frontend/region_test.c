// Tests RoiAlign, DeformConv and linear attention against loops that follow their definitions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/frontend/random_model.h"

static void check(const char *text, const Tensor *y, const double *want)
{
    double most = 1;

    for (int64_t i = 0; i < tensor_count(y); i++)
        most = fmax(most, fabs(want[i]));
    for (int64_t i = 0; i < tensor_count(y); i++)
        if (!(fabs(y->f[i] - want[i]) <= 2e-5 * most))
            fail_msg("%s: element %d is %g, expected %g", text, (int)i, y->f[i], want[i]);
}

// ---- RoiAlign ----

typedef struct Roi {
    int64_t n, c, h, w, count, bins[2], samples;
    bool is_max, half_pixel;
} Roi;

// The largest weighted element around a position, or the sum of all four.
static double around(const Roi *r, const double *plane, double y, double x)
{
    double sum = 0, most = -INFINITY;

    if (y < -1 || y > (double)r->h || x < -1 || x > (double)r->w)
        return 0;
    y = fmin(fmax(y, 0), (double)r->h - 1);
    x = fmin(fmax(x, 0), (double)r->w - 1);
    for (int k = 0; k < 4; k++) {
        double row = floor(y) + (k >> 1), column = floor(x) + (k & 1);
        double weight = (1 - fabs(y - row)) * (1 - fabs(x - column));
        bool is_in = row < (double)r->h && column < (double)r->w;
        double v = is_in ? weight * plane[(int64_t)row * r->w + (int64_t)column] : 0;
        sum += v;
        most = fmax(most, v);
    }
    return r->is_max ? most : sum;
}

static double bin_value(const Roi *r, const double *plane, const double *roi, int64_t p, int64_t q)
{
    double start[2], size[2], sum = 0, most = -INFINITY;
    int64_t count[2], at[] = {p, q};

    for (int d = 0; d < 2; d++) {
        double from = roi[1 - d] * 0.5 - (r->half_pixel ? 0.5 : 0);
        double length = roi[3 - d] * 0.5 - (r->half_pixel ? 0.5 : 0) - from;
        length = r->half_pixel ? length : fmax(length, 1);
        size[d] = length / (double)r->bins[d];
        start[d] = from + (double)at[d] * size[d];
        count[d] = r->samples ? r->samples : (int64_t)ceil(size[d]);
    }
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1]; j++) {
            double y = start[0] + ((double)i + 0.5) * size[0] / (double)count[0];
            double v =
                around(r, plane, y, start[1] + ((double)j + 0.5) * size[1] / (double)count[1]);
            sum += v;
            most = fmax(most, v);
        }
    if (r->is_max)
        return most;
    return count[0] > 0 && count[1] > 0 ? sum / (double)(count[0] * count[1]) : 0;
}

static void test_rois(void **state)
{
    uint64_t seed = 1;

    for (int i = 0; i < 60; i++) {
        Arena *a = arena_new();
        Roi r = {pick(&seed, 1, 2),
                 pick(&seed, 1, 2),
                 pick(&seed, 1, 7),
                 pick(&seed, 1, 7),
                 3,
                 {pick(&seed, 1, 3), pick(&seed, 1, 3)},
                 0,
                 i % 3 == 0,
                 i & 1};
        r.samples = pick(&seed, r.is_max, 3);
        // Regions reach from -12 to 12: four inputs in [-1, 1) are scaled and sorted.
        const char *text = arena_string(
            a,
            "input x f32[%d,%d,%d,%d]; input o f32[3,2]; input s f32[3,2]; input b i64[3]; "
            "k = Constant() value_float=12f; l = Mul(o, k); m = Mul(s, k); h = Add(l, m); "
            "t = Concat(l, h) axis=1; c = Constant() value_int=%d; e = Mod(b, c); "
            "y = RoiAlign(x, t, e) output_height=%d output_width=%d sampling_ratio=%d "
            "spatial_scale=0.5f mode='%s' coordinate_transformation_mode='%s'; output y; output t; "
            "output e",
            (int)r.n, (int)r.c, (int)r.h, (int)r.w, (int)r.n, (int)r.bins[0], (int)r.bins[1],
            (int)r.samples, r.is_max ? "max" : "avg",
            r.half_pixel ? "half_pixel" : "output_half_pixel");
        Tensor in[4], y = model_value(a, text, (uint64_t)i, in, 0);
        Tensor rois = model_value(a, text, (uint64_t)i, in, 1);
        Tensor batch = model_value(a, text, (uint64_t)i, in, 2);
        double *want = arena_array(a, double, tensor_count(&y));
        for (int64_t k = 0; k < tensor_count(&y); k++) {
            int64_t q = k % r.bins[1], p = k / r.bins[1] % r.bins[0];
            int64_t c = k / r.bins[1] / r.bins[0] % r.c, roi = k / r.bins[1] / r.bins[0] / r.c;
            const double *plane = in[0].f + (batch.i[roi] * r.c + c) * r.h * r.w;
            want[k] = bin_value(&r, plane, rois.f + 4 * roi, p, q);
        }
        check(text, &y, want);
        arena_free(a);
    }
}

// ---- DeformConv ----

typedef struct Deform {
    int64_t n, group, offset_group, c, m, h, w, kernel[2], stride[2], dilation[2], low[2], out[2];
} Deform;

static bool draw_deform(uint64_t *seed, Deform *f)
{
    *f = (Deform){.n = pick(seed, 1, 2),
                  .group = pick(seed, 1, 2),
                  .offset_group = pick(seed, 1, 2),
                  .h = pick(seed, 2, 6),
                  .w = pick(seed, 2, 6)};
    f->c = 2 * pick(seed, 1, 2);
    f->m = 2 * pick(seed, 1, 2);
    for (int d = 0; d < 2; d++) {
        f->kernel[d] = pick(seed, 1, 3);
        f->stride[d] = pick(seed, 1, 2);
        f->dilation[d] = pick(seed, 1, 2);
        f->low[d] = pick(seed, 0, 2);
        int64_t room = (d ? f->w : f->h) + f->low[d] + 1 - (f->kernel[d] - 1) * f->dilation[d] - 1;
        if (room < 0)
            return false;
        f->out[d] = room / f->stride[d] + 1;
    }
    return true;
}

// Element (row, column) of a plane by linear sampling with zeros outside.
static double sampled(const double *plane, int64_t h, int64_t w, double row, double column)
{
    double sum = 0;

    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++)
            sum += plane[i * w + j] * fmax(0, 1 - fabs(row - (double)i)) *
                   fmax(0, 1 - fabs(column - (double)j));
    return sum;
}

// One product of input channel c (within the group) and tap (i, j) for y[n, m, p, q].
static double deform_term(const Deform *f, const Tensor *in, int64_t n, int64_t m, int64_t c,
                          const int64_t *tap, const int64_t *at)
{
    int64_t taps = f->kernel[0] * f->kernel[1], positions = f->out[0] * f->out[1];
    int64_t own = f->c / f->group, channel = m / (f->m / f->group) * own + c;
    int64_t k = channel / (f->c / f->offset_group) * taps + tap[0] * f->kernel[1] + tap[1];
    int64_t position = at[0] * f->out[1] + at[1];
    double where[2];

    for (int d = 0; d < 2; d++)
        where[d] = (double)(at[d] * f->stride[d] + tap[d] * f->dilation[d] - f->low[d]) +
                   in[2].f[((n * f->offset_group * taps + k) * 2 + d) * positions + position];
    double x =
        sampled(in[0].f + (n * f->c + channel) * f->h * f->w, f->h, f->w, where[0], where[1]);
    return x * in[1].f[(m * own + c) * taps + tap[0] * f->kernel[1] + tap[1]] *
           in[4].f[(n * f->offset_group * taps + k) * positions + position];
}

static void test_deform(void **state)
{
    uint64_t seed = 3;
    Deform f;

    for (int i = 0; i < 30; i++) {
        if (!draw_deform(&seed, &f))
            continue;
        Arena *a = arena_new();
        int taps = (int)(f.kernel[0] * f.kernel[1]);
        const char *text = arena_string(
            a,
            "opset 19; input x f32[%d,%d,%d,%d]; input w f32[%d,%d,%d,%d]; input o "
            "f32[%d,%d,%d,%d]; input b f32[%d]; input k f32[%d,%d,%d,%d]; y = DeformConv(x, w, o, "
            "b, k) group=%d offset_group=%d strides=[%d,%d] dilations=[%d,%d] pads=[%d,%d,1,1]; "
            "output y",
            (int)f.n, (int)f.c, (int)f.h, (int)f.w, (int)f.m, (int)(f.c / f.group),
            (int)f.kernel[0], (int)f.kernel[1], (int)f.n, (int)f.offset_group * taps * 2,
            (int)f.out[0], (int)f.out[1], (int)f.m, (int)f.n, (int)f.offset_group * taps,
            (int)f.out[0], (int)f.out[1], (int)f.group, (int)f.offset_group, (int)f.stride[0],
            (int)f.stride[1], (int)f.dilation[0], (int)f.dilation[1], (int)f.low[0], (int)f.low[1]);
        Tensor in[5], y = model_value(a, text, (uint64_t)i, in, 0);
        double *want = arena_array(a, double, tensor_count(&y));
        assert_int_equal(tensor_count(&y), f.n * f.m * f.out[0] * f.out[1]);
        for (int64_t k = 0; k < tensor_count(&y); k++) {
            int64_t at[] = {k / f.out[1] % f.out[0], k % f.out[1]}, tap[2];
            int64_t m = k / f.out[1] / f.out[0] % f.m, n = k / f.out[1] / f.out[0] / f.m;
            want[k] = in[3].f[m];
            for (int64_t c = 0; c < f.c / f.group; c++)
                for (tap[0] = 0; tap[0] < f.kernel[0]; tap[0]++)
                    for (tap[1] = 0; tap[1] < f.kernel[1]; tap[1]++)
                        want[k] += deform_term(&f, in, n, m, c, tap, at);
        }
        check(text, &y, want);
        arena_free(a);
    }
}

// ---- linear attention ----

enum { BATCH = 2, HEADS = 2, READS = 2, KEYS = 3, VALUES = 2 };

typedef struct Attend {
    bool gated, wide, delta;
    int64_t length;
} Attend;

// Takes one token of one head. s: [KEYS][VALUES]; o: [READS][VALUES].
static void take_token(const Attend *t, const Tensor *in, int64_t b, int64_t at, int64_t h,
                       double *s, double *o)
{
    int64_t token = b * t->length + at;
    const double *q = in[0].f + (token * HEADS + h) * READS * KEYS;
    const double *k = in[1].f + (token * HEADS + h) * KEYS;
    const double *v = in[2].f + (token * HEADS + h) * VALUES;

    for (int d = 0; t->gated && d < KEYS; d++)
        for (int e = 0; e < VALUES; e++)
            s[d * VALUES + e] *=
                exp(in[4].f[t->wide ? (token * HEADS + h) * KEYS + d : token * HEADS + h] - 1);
    for (int e = 0; e < VALUES; e++) {
        double u = v[e];
        for (int d = 0; t->delta && d < KEYS; d++)
            u -= s[d * VALUES + e] * k[d];
        u *= t->delta ? in[t->gated ? 5 : 4].f[token * HEADS + h] : 1;
        for (int d = 0; d < KEYS; d++)
            s[d * VALUES + e] += k[d] * u;
    }
    for (int r = 0; r < READS; r++)
        for (int e = 0; e < VALUES; e++) {
            o[r * VALUES + e] = 0;
            for (int d = 0; d < KEYS; d++)
                o[r * VALUES + e] += 0.5 * q[r * KEYS + d] * s[d * VALUES + e];
        }
}

static void check_attend(const Attend *t)
{
    Arena *a = arena_new();
    int n = (int)t->length;
    const char *text = arena_string(
        a,
        "opset 27; input q f32[2,%d,12]; input k f32[2,%d,6]; input v f32[2,%d,4]; input s "
        "f32[2,2,3,2]; %s%s y, z = LinearAttention(q, k, v, s, %s, %s) q_num_heads=4 "
        "kv_num_heads=2 scale=0.5f update_rule='%s%s'; output y; output z",
        n, n, n,
        !t->gated
            ? ""
            : arena_string(a, "input h f32[2,%d,%d]; c = Constant() value_float=1f; g = Sub(h, c);",
                           n, t->wide ? 6 : 2),
        !t->delta ? "" : arena_string(a, "input b f32[2,%d,2];", n), t->gated ? "g" : "",
        t->delta ? "b" : "", t->gated ? "gated" : "",
        t->delta   ? (t->gated ? "_delta" : "delta")
        : t->gated ? ""
                   : "linear");
    Tensor in[6], y = model_value(a, text, 7, in, 0), z = model_value(a, text, 7, in, 1);
    double *want = arena_array(a, double, tensor_count(&y)), *s = arena_array(a, double, 24);

    memcpy(s, in[3].f, 24 * sizeof *s);
    for (int64_t b = 0; b < BATCH; b++)
        for (int64_t i = 0; i < t->length; i++)
            for (int64_t h = 0; h < HEADS; h++)
                take_token(t, in, b, i, h, s + (b * HEADS + h) * KEYS * VALUES,
                           want + ((b * t->length + i) * HEADS + h) * READS * VALUES);
    check(text, &y, want);
    check(text, &z, s);
    arena_free(a);
}

// Lengths below a chunk, of one, and of several with a rest.
static void test_attends(void **state)
{
    static const int64_t length[] = {1, 7, 16, 40, 64, 70, 130};

    for (int i = 0; i < COUNT(length); i++)
        for (int kind = 0; kind < 6; kind++)
            check_attend(&(Attend){kind % 3 > 0, kind % 3 == 2, kind > 2, length[i]});
    check_attend(&(Attend){true, true, true, 6000});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rois), cmocka_unit_test(test_deform),
                                       cmocka_unit_test(test_attends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
