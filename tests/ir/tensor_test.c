// Tests numbers as elements of a dtype: rounding, packing, evaluation.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "ir/build.h"
#include "ir/internal.h"

static const struct {
    DType type;
    double x, y;  // x as an element of the type
} rounded[] = {
    {F32, 0.1, 0.1f},
    {F64, 0.1, 0.1},
    {F16, 0.1, 0.0999755859375},
    {F16, 65519, 65504},
    {F16, 65520, INFINITY},
    {F16, -65520, -INFINITY},
    {F16, 0x1p-24, 0x1p-24},
    {F16, 0x1p-25, 0},
    {F16, 0x1.8p-24, 0x1p-23},
    {F16, 2049, 2048},
    {F16, 2051, 2052},
    {BF16, 257, 256},
    {BF16, 259, 260},
    {BF16, 3.4e38, INFINITY},
    {BF16, 0x1p-133, 0x1p-133},
    {BF16, 0x1p-134, 0},
    {I8, 1e9, 127},
    {I8, -1e9, -128},
    {U8, -1, 0},
    {U8, 300, 255},
    {I64, 1e300, 9223372036854775807.0},
    {U64, 1e300, 0x1p64},
    {I32, -1.9, -1},
    {I32, NAN, 0},
    {BOOL, 0.5, 1},
    {BOOL, 0, 0},
    {BOOL, -3, 1},
};

// A scalar constant keeps its number through a cast, a reshape and a broadcast.
static void test_splat(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Graph *g = graph_new(a, "g");
    double x;

    for (int i = 0; i < COUNT(rounded); i++) {
        ValueId v = graph_scalar(g, rounded[i].type, rounded[i].x);
        v = make_broadcast(g, make_reshape(g, v, 1, (int64_t[]){1}), 2, (int64_t[]){3, 1},
                           (int64_t[]){1});
        assert_true(value_splat(g, v, &x));
        assert_true(x == rounded[i].y);
    }
    ValueId v = scalar_like(g, graph_value(g, VALUE_INPUT, "x", F64, 1, (int64_t[]){7}), 2.75);
    assert_true(value_splat(g, make_cast(g, v, I32), &x));
    assert_true(x == 2);
    assert_false(value_splat(g, make_neg(g, v), &x));
    assert_false(value_splat(g, 0, &x));
    arena_free(a);
}

// Every half packs into the bits that it was unpacked from.
static void test_halves(void **state)
{
    (void)state;
    static uint16_t bits[65536];
    int64_t dim[] = {65536};

    for (int i = 0; i < 65536; i++)
        bits[i] = (uint16_t)i;
    for (int t = F16; t <= BF16; t++) {
        Arena *a = arena_new();
        Tensor x =
            tensor_of(a, &(Value){.dtype = (DType)t, .rank = 1, .dim = {65536}, .data = bits});
        Tensor y = tensor_new(a, (DType)t, 1, dim);
        memcpy(y.f, x.f, sizeof *x.f * 65536);
        tensor_round(&y);
        const uint16_t *packed = tensor_pack(a, &y);
        for (int i = 0; i < 65536; i++) {
            if (isnan(x.f[i]))
                assert_true(isnan(y.f[i]));
            else
                assert_int_equal(packed[i], bits[i]);
        }
        arena_free(a);
    }
}

static const char program[] = "graph \"g\" {\n"
                              "  input %x f32[2]\n"
                              "  state %m f32[2] = 0.1\n"
                              "  constant %c f32[2] = [1, 2]\n"
                              "  %y f32[2] = add(%x, %c)\n"
                              "  %z f32[2] = mul(%y, %m)\n"
                              "  %b bool[2] = lt(%z, %c)\n"
                              "  %i i32[2] = cast(%z) to=i32\n"
                              "}\n";

static void test_eval(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = graph_parse(a, program, strlen(program), &d);
    assert_non_null(g);
    Tensor *values = arena_array(a, Tensor, g->n_values);
    values[1] = tensor_new(a, F32, 1, (int64_t[]){2});
    values[1].f[0] = 9;
    values[1].f[1] = 28;
    graph_eval(a, g, values);
    const Tensor *z = &values[producer(g, g->n_values - 1)->in[0]];
    assert_true(z->f[0] == (float)(10 * (double)0.1f) && z->f[1] == (float)(30 * (double)0.1f));
    assert_int_equal(z[1].i[0], 0);
    assert_int_equal(z[1].i[1], 0);
    assert_int_equal(z[2].i[0], 1);
    assert_int_equal(z[2].i[1], 3);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splat),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_eval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
