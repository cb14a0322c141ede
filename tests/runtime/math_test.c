// Tests the functions of rt_math.h against the C library's in double, over floats of all sizes:
// every STEP-th bit pattern and the special values.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/rt_math.h"

enum { STEP = 1009 };  // prime, so that all low bits occur

static float absolute(float x) { return rt_absf(x); }
static float root(float x) { return rt_sqrtf(x); }
static float tanh_(float x) { return rt_tanhf(x); }
static float atan_(float x) { return rt_atanf(x); }
static float exp_(float x) { return rt_expf(x); }
static float log_(float x) { return rt_logf(x); }
static float expm1_(float x) { return rt_expm1f(x); }
static float log1p_(float x) { return rt_log1pf(x); }
static float erf_(float x) { return rt_erff(x); }
static float sin_(float x) { return rt_sinf(x); }
static float cos_(float x) { return rt_cosf(x); }
static float floor_(float x) { return rt_floorf(x); }
static float round_(float x) { return rt_roundf(x); }

static const struct {
    const char *name;
    float (*ours)(float);
    double (*theirs)(double);
    float limit;  // largest |x| that is tested
    double ulps;
} functions[] = {
    {"abs", absolute, fabs, INFINITY, 0},  {"sqrt", root, sqrt, INFINITY, 0.5},
    {"exp", exp_, exp, INFINITY, 2},       {"log", log_, log, INFINITY, 2},
    {"tanh", tanh_, tanh, INFINITY, 2},    {"atan", atan_, atan, INFINITY, 2},
    {"erf", erf_, erf, INFINITY, 2},       {"sin", sin_, sin, 0x1p40f, 2},
    {"cos", cos_, cos, 0x1p40f, 2},        {"floor", floor_, floor, INFINITY, 0},
    {"round", round_, rint, INFINITY, 0},  {"expm1", expm1_, expm1, INFINITY, 2},
    {"log1p", log1p_, log1p, INFINITY, 2},
};

// Up to 88, rt_exp_lowf has the bits of rt_expf where the result is 2^-126 or more, else it is 0.
static void test_low_exponents(void **state)
{
    static const float special[] = {0,          -0.0f,      88,        -INFINITY, -FLT_MAX,
                                    -87.33654f, -87.33655f, -103.97f,  -104.0f,   0x1p-149f,
                                    -65504,     -1e4f,      -16777216, -1e9f,     -0x1p30f};

    for (uint64_t u = 0; u < (uint64_t)1 << 32; u += STEP) {
        float x = rt_from_bits((uint32_t)u);
        if (x > 88)
            continue;
        float y = rt_expf(x), low = rt_exp_lowf(x);
        if (x != x)
            assert_true(low != low);
        else
            assert_int_equal(rt_bits(low), rt_bits(y < 0x1p-126f ? 0 : y));
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        float y = rt_expf(special[i]);
        assert_int_equal(rt_bits(rt_exp_lowf(special[i])), rt_bits(y < 0x1p-126f ? 0 : y));
    }
}

// Operands whose powers are special cases, and some others.
static const float operands[] = {
    0,        -0.0f,   1,       -1,       2,         -2,     3,         -3,    0.5f,   -0.5f,
    1.5f,     -1.5f,   0.1f,    -0.1f,    7,         -7,     10,        1e10f, -1e10f, 1e-10f,
    -1e-10f,  1e30f,   -1e30f,  1e38f,    -1e38f,    1e-40f, -1e-40f,   0.99f, 1.01f,  16777215,
    16777216, FLT_MAX, FLT_MIN, INFINITY, -INFINITY, NAN,    0x1p-149f, 128,   -149,   33,
};

// The distance of y from x in units of the last place of x's f32.
static double ulps(float y, double x)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    if (fabs(x) >= 0x1.ffffffp127)  // rounds to 2^128, so overflow is right
        return y == (float)x || fabsf(y) == FLT_MAX ? 0 : INFINITY;
    if (isinf(y))
        return fabs(x) > 0x1.fffffcp127 ? 1 : INFINITY;
    int e;

    frexp(x, &e);
    return fabs((double)y - x) / ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

static void test_one_operand(void **state)
{
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        double worst = 0;
        float at = 0;

        for (uint64_t u = 0; u < (uint64_t)1 << 32; u += STEP) {
            float x = rt_from_bits((uint32_t)u);
            if (fabsf(x) > functions[f].limit && !isinf(x))
                continue;
            double e = ulps(functions[f].ours(x), functions[f].theirs((double)x));
            if (e > worst) {
                worst = e;
                at = x;
            }
        }
        print_message("%-6s %.3f ulp at %a\n", functions[f].name, worst, (double)at);
        assert_true(worst <= functions[f].ulps);
    }
}

static void test_special_values(void **state)
{
    static const float special[] = {0,     -0.0f,     INFINITY, -INFINITY, NAN,   FLT_MAX,
                                    1,     -FLT_MAX,  FLT_MIN,  0x1p-149f, -1,    88.72284f,
                                    0.625, 88.72283f, -103.97f, -104.0f,   0.92f, 8388607.5f};

    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
            if (fabsf(special[i]) > functions[f].limit && !isinf(special[i]))
                continue;
            assert_true(ulps(functions[f].ours(special[i]),
                             functions[f].theirs((double)special[i])) <= functions[f].ulps);
        }
    assert_true(signbit(rt_tanhf(-0.0f)) && signbit(rt_erff(-0.0f)));
    assert_true(signbit(rt_roundf(-0.25f)));
}

static void test_two_operands(void **state)
{
    size_t n = sizeof operands / sizeof *operands;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double a = (double)operands[i], b = (double)operands[j];
            double power = ulps(rt_powf(operands[i], operands[j]), pow(a, b));

            if (power > 1)
                print_message("pow(%g, %g): %g ulp\n", a, b, power);
            assert_true(power <= 1);
        }
    assert_true(signbit(rt_powf(-0.0f, 3)) && !signbit(rt_powf(-0.0f, 2)));
}

static void test_two_operands_dense(void **state)
{
    uint64_t random = 1;

    for (int i = 0; i < 1000000; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        float a = rt_from_bits((uint32_t)(random >> 32));
        random = random * 6364136223846793005 + 1442695040888963407;
        float b = rt_from_bits((uint32_t)(random >> 32)), c = a - a == 0 ? b * 0x1p-20f : b;

        assert_true(ulps(rt_powf(a, c), pow((double)a, (double)c)) <= 1);
        float near = 1 + (float)(int32_t)(random >> 33) * 0x1p-31f;
        assert_true(ulps(rt_powf(near, c), pow((double)near, (double)c)) <= 1);
    }
}

// Numbers are uniform and depend on every word of the key and the counter.
static void test_uniform(void **state)
{
    int bucket[16] = {0};
    double sum = 0;

    for (int64_t i = 0; i < 1 << 20; i++) {
        float u = rt_uniform(7, 3, 2, 1, i);
        assert_true(u >= 0 && u < 1);
        bucket[(int)(u * 16)]++;
        sum += (double)u;
    }
    assert_true(fabs(sum / (1 << 20) - 0.5) < 1e-3);
    for (int i = 0; i < 16; i++)
        assert_true(abs(bucket[i] - (1 << 16)) < 1000);
    float u = rt_uniform(7, 3, 2, 1, 5);
    assert_true(u != rt_uniform(8, 3, 2, 1, 5) && u != rt_uniform(7, 4, 2, 1, 5));
    assert_true(u != rt_uniform(7, 3, 3, 1, 5) && u != rt_uniform(7, 3, 2, 2, 5));
    assert_true(u != rt_uniform(7, 3, 2, 1, 6) && u != rt_uniform(7, 3, 2, 1, 5 + (1LL << 34)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_operand),        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_low_exponents),      cmocka_unit_test(test_two_operands),
        cmocka_unit_test(test_two_operands_dense), cmocka_unit_test(test_uniform),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
