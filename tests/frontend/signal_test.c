// Tests Fourier transforms of many lengths, frames and the folding of blocks against plain loops.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/frontend/random_model.h"

// ---- Fourier transforms ----

// Bin k of a row of x [rows, have, parts], which is cut or filled with zeros to n elements. Half a
// spectrum represents its mirror image too.
static void bin(const Tensor *x, int64_t row, int64_t n, int64_t k, int sign, bool is_half,
                double *re, double *im)
{
    int64_t have = x->dim[1], parts = x->dim[2], used = is_half ? n / 2 + 1 : n;
    double s = sign > 0 ? 1 / (double)n : 1;

    *re = *im = 0;
    for (int64_t j = 0; j < n; j++) {
        bool is_mirrored = j >= used;
        int64_t from = is_mirrored ? n - j : j;
        if (from >= have)
            continue;
        double a = x->f[(row * have + from) * parts];
        double b = parts == 2 ? x->f[(row * have + from) * parts + 1] : 0;
        double angle = 2 * M_PI * (double)(j * k % n) / (double)n * sign;
        b = is_mirrored ? -b : b;
        *re += s * (a * cos(angle) - b * sin(angle));
        *im += s * (a * sin(angle) + b * cos(angle));
    }
}

static double transform_error(DType t, int64_t n, int64_t have, int parts, bool inverse,
                              bool onesided)
{
    Arena *a = arena_new();
    Diag d = {.file = "m"};
    Graph *g = graph_new(a, "g");
    bool is_half = inverse && onesided;
    double error = 0, norm = 1e-30;
    Tensor x;

    g->diag = &d;
    ValueId in = graph_value(g, VALUE_INPUT, "x", t, 3, (int64_t[]){2, have, parts});
    ValueId out = fourier(g, in, n, inverse, onesided);
    graph_output(g, "y", out, OUTPUT_MODEL);
    assert_true(out && graph_verify(g, &d));
    Tensor y = evaluate_random(a, g, (uint64_t)(n + have), &x)[out];
    int64_t bins = onesided && !inverse ? n / 2 + 1 : n;
    assert_int_equal(y.dim[0], 2);
    assert_int_equal(y.dim[1], bins);
    assert_int_equal(y.dim[2], is_half ? 1 : 2);
    for (int64_t row = 0; row < 2; row++)
        for (int64_t k = 0; k < bins; k++) {
            double e[2];
            bin(&x, row, n, k, inverse ? 1 : -1, is_half, &e[0], &e[1]);
            for (int p = 0; p < y.dim[2]; p++) {
                error += pow(y.f[(row * bins + k) * y.dim[2] + p] - e[p], 2);
                norm += e[p] * e[p];
            }
        }
    arena_free(a);
    return sqrt(error / norm);
}

// Lengths of each kind: one matrix, factors, a chirp, and those where the kind changes.
static void test_transforms(void **state)
{
    static const int64_t length[] = {1,   2,   3,   4,   8,   12,  181,  182, 191,
                                     255, 256, 257, 300, 509, 512, 1030, 1031};
    int failed = 0;

    for (int i = 0; i < COUNT(length); i++)
        for (int kind = 0; kind < 12; kind++) {
            int64_t n = length[i];
            bool inverse = kind & 1, onesided = kind & 2;
            DType t = kind < 8 ? F32 : F64;
            int parts = onesided ? (inverse ? 2 : 1) : kind & 4 ? 2 : 1;
            int64_t have =
                (inverse && onesided ? n / 2 + 1 : n) + (int64_t[]){0, -1, 2}[(i + kind) % 3];
            if (have < 1 || (kind > 4 && n > 600))
                continue;
            double error = transform_error(t, n, have, parts, inverse, onesided);
            if (!(error < (t == F32 ? 1e-6 : 1e-13))) {
                print_message("n %d, of %d, kind %d: error %g\n", (int)n, (int)have, kind, error);
                failed++;
            }
        }
    assert_int_equal(failed, 0);
}

// A transform whose table is too large for a constant. The input is one element of 1, so the result
// is a wave.
static void test_large_table(void **state)
{
    enum { LENGTH = 131200, AT = 77777 };  // of F64: 1.05 MB
    Arena *a = arena_new();
    Diag d = {.file = "m"};
    Graph *g = graph_new(a, "g");

    g->diag = &d;
    ValueId in = graph_value(g, VALUE_INPUT, "x", F64, 2, (int64_t[]){LENGTH, 1});
    ValueId out = fourier(g, in, LENGTH, false, false);
    graph_output(g, "y", out, OUTPUT_MODEL);
    assert_true(out && graph_verify(g, &d));
    Tensor *values = arena_array(a, Tensor, g->n_values + 1);
    values[in] = tensor_new(a, F64, 2, (int64_t[]){LENGTH, 1});
    values[in].f[AT] = 1;
    graph_eval(a, g, values);
    for (int64_t k = 0; k < LENGTH; k++) {
        double angle = 2 * M_PI * (double)(AT * k % LENGTH) / LENGTH;
        assert_true(fabs(values[out].f[2 * k] - cos(angle)) < 1e-13);
        assert_true(fabs(values[out].f[2 * k + 1] + sin(angle)) < 1e-13);
    }
    arena_free(a);
}

// ---- frames ----

// Frames that are joined from pieces, and frames that are gathered: the sum of a frame is bin 0.
static void test_frames(void **state)
{
    static const int64_t cases[][3] = {
        {12, 4, 4}, {13, 6, 4}, {20, 7, 9}, {200, 131, 3}, {9, 9, 1}};

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        int64_t length = cases[i][0], size = cases[i][1], step = cases[i][2];
        Tensor x;
        const char *text = arena_string(a,
                                        "input x f32[2,%d,1]; init s i64[] %d; init n i64[] %d; "
                                        "y = STFT(x, s, , n); output y",
                                        (int)length, (int)step, (int)size);
        Tensor y = model_value(a, text, (uint64_t)i, &x, 0);
        int64_t count = (length - size) / step + 1, bins = size / 2 + 1;
        assert_int_equal(y.rank, 4);
        assert_int_equal(y.dim[1], count);
        assert_int_equal(y.dim[2], bins);
        for (int64_t k = 0; k < 2 * count; k++) {
            double sum = 0;
            for (int64_t j = 0; j < size; j++)
                sum += x.f[k / count * length + k % count * step + j];
            assert_true(fabs(y.f[k * bins * 2] - sum) < 1e-4);
        }
        arena_free(a);
    }
}

// ---- blocks ----

typedef struct Blocks {
    int64_t image, block, stride, dilation, low, high, count;
} Blocks;

static bool draw_blocks(uint64_t *seed, Blocks *b)
{
    *b = (Blocks){.image = pick(seed, 1, 9),
                  .block = pick(seed, 1, 4),
                  .stride = pick(seed, 1, 3),
                  .dilation = pick(seed, 1, 3),
                  .low = pick(seed, 0, 3),
                  .high = pick(seed, 0, 3)};
    int64_t room = b->image + b->low + b->high - (b->block - 1) * b->dilation - 1;
    b->count = room / b->stride + 1;
    return room >= 0;
}

static int64_t product_of(int n, const Blocks *b, size_t at)
{
    int64_t p = 1;

    for (int i = 0; i < n; i++)
        p *= *(const int64_t *)((const char *)&b[i] + at);
    return p;
}

// " name=[1,2]", or "init name i64[2] 1 2; ", from one number of each dim; with `second`, from
// another one too.
static void put_list(Text *t, bool is_init, const char *name, int n, const Blocks *b, size_t first,
                     size_t second)
{
    const char *begin = is_init ? "init %s i64[%d]" : " %s=[";

    text_printf(t, begin, name, n);
    for (int i = 0; i < (second ? 2 * n : n); i++)
        text_printf(t, "%s%d",
                    is_init ? " "
                    : i     ? ","
                            : "",
                    (int)*(const int64_t *)((const char *)&b[i % n] + (i < n ? first : second)));
    text_printf(t, is_init ? "; " : "]");
}

static char *fold_model(Arena *a, int n, const Blocks *b, int64_t channels)
{
    Text t = {0};

    text_printf(&t, "input x f32[2,%d,%d]; ",
                (int)(channels * product_of(n, b, offsetof(Blocks, block))),
                (int)product_of(n, b, offsetof(Blocks, count)));
    put_list(&t, true, "i", n, b, offsetof(Blocks, image), 0);
    put_list(&t, true, "b", n, b, offsetof(Blocks, block), 0);
    text_printf(&t, "y = Col2Im(x, i, b)");
    put_list(&t, false, "strides", n, b, offsetof(Blocks, stride), 0);
    put_list(&t, false, "dilations", n, b, offsetof(Blocks, dilation), 0);
    put_list(&t, false, "pads", n, b, offsetof(Blocks, low), offsetof(Blocks, high));
    text_printf(&t, "; output y");
    char *s = arena_string(a, "%s", t.s);
    text_free(&t);
    return s;
}

// The element of an image of one channel that element `e` of block `c` is added to; -1: none.
static int64_t position_of(int n, const Blocks *b, int64_t e, int64_t c)
{
    int64_t position = 0, step = 1;

    for (int i = n - 1; i >= 0; i--) {
        int64_t at = c % b[i].count * b[i].stride + e % b[i].block * b[i].dilation - b[i].low;
        if (at < 0 || at >= b[i].image)
            return -1;
        position += at * step;
        step *= b[i].image;
        e /= b[i].block;
        c /= b[i].count;
    }
    return position;
}

static void test_folds(void **state)
{
    uint64_t seed = 1;
    int tried = 0;

    while (tried < 60) {
        Blocks b[3];
        int n = (int)pick(&seed, 1, 3);
        bool fits = true;
        for (int i = 0; i < n; i++)
            fits &= draw_blocks(&seed, &b[i]);
        if (!fits)
            continue;
        Arena *a = arena_new();
        int64_t channels = pick(&seed, 1, 2), rows = product_of(n, b, offsetof(Blocks, block));
        int64_t columns = product_of(n, b, offsetof(Blocks, count));
        int64_t pixels = product_of(n, b, offsetof(Blocks, image));
        const char *text = fold_model(a, n, b, channels);
        Tensor x, y = model_value(a, text, (uint64_t)++tried, &x, 0);
        double *e = arena_array(a, double, 2 * channels * pixels);
        for (int64_t i = 0; i < tensor_count(&x); i++) {
            int64_t to = position_of(n, b, i / columns % rows, i % columns);
            if (to >= 0)
                e[i / columns / rows * pixels + to] += x.f[i];
        }
        assert_int_equal(tensor_count(&y), 2 * channels * pixels);
        for (int64_t i = 0; i < tensor_count(&y); i++)
            if (fabs(y.f[i] - e[i]) > 1e-5)
                fail_msg("%s: element %d is %g, expected %g", text, (int)i, y.f[i], e[i]);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_transforms),
                                       cmocka_unit_test(test_large_table),
                                       cmocka_unit_test(test_frames), cmocka_unit_test(test_folds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
