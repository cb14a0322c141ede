// Tests floats that become floats of another type.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/rt_element.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct {
    RtType from, to;
    double x, y;
} roundings[] = {
    {RT_F32, RT_F16, 1 + 0x1p-11, 1},               // a tie to even
    {RT_F32, RT_F16, 1 + 3 * 0x1p-11, 1 + 0x1p-9},  // up
    {RT_F32, RT_F16, 1 + 0x1p-11 + 0x1p-20, 1 + 0x1p-10},
    // Through f32 this would be a tie.
    {RT_F64, RT_F16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10},
    {RT_F64, RT_F16, 1 + 0x1p-11 - 0x1p-40, 1},
    {RT_F64, RT_BF16, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7},
    {RT_F64, RT_BF16, -1 - 0x1p-8 - 0x1p-40, -1 - 0x1p-7},
    {RT_F32, RT_BF16, 1 + 0x1p-8, 1},
    {RT_F32, RT_F16, 0x1p-24, 0x1p-24},  // the smallest one
    {RT_F32, RT_F16, 0x1p-25, 0},        // a tie to 0
    {RT_F16, RT_F32, 0x1p-24, 0x1p-24},
    {RT_F16, RT_F32, -65504, -65504},
    {RT_F64, RT_F32, 1 + 0x1p-24, 1},
    {RT_F32, RT_F16, 65519, 65504},
    {RT_F32, RT_F16, 65520, INFINITY},
    {RT_F64, RT_F16, 1e300, INFINITY},
    {RT_F64, RT_BF16, -1e300, -INFINITY},
    {RT_F32, RT_F16, INFINITY, INFINITY},
    {RT_F32, RT_F16, NAN, NAN},
    {RT_F16, RT_F32, NAN, NAN},
    {RT_BF16, RT_F32, NAN, NAN},
    {RT_F64, RT_BF16, NAN, NAN},
    {RT_F16, RT_BF16, -0.0, -0.0},
};

static void test_roundings(void **state)
{
    for (int i = 0; i < COUNT(roundings); i++) {
        uint64_t x = rt_element_bits(roundings[i].from, roundings[i].x), y = 0;
        double back = 0, expected = roundings[i].y;
        int64_t infinite = rt_round_floats(roundings[i].to, &y, roundings[i].from, &x, 1);

        rt_round_floats(RT_F64, &back, roundings[i].to, &y, 1);
        assert_true(isnan(expected) ? isnan(back)
                                    : back == expected && signbit(back) == signbit(expected));
        assert_int_equal(infinite, isinf(expected) && isfinite(roundings[i].x));
    }
}

// Each half is itself again after any wider type.
static void test_all_halves(void **state)
{
    static const RtType halves[] = {RT_F16, RT_BF16}, wide[] = {RT_F32, RT_F64};

    for (int t = 0; t < 4; t++)
        for (uint32_t u = 0; u < 1 << 16; u++) {
            uint16_t half = (uint16_t)u, back;
            RtType type = halves[t & 1];
            uint64_t w = 0;
            double value;

            assert_int_equal(rt_round_floats(wide[t / 2], &w, type, &half, 1), 0);
            rt_round_floats(RT_F64, &value, wide[t / 2], &w, 1);
            assert_int_equal(rt_round_floats(type, &back, wide[t / 2], &w, 1), 0);
            assert_true(isnan(value) || back == half);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roundings),
        cmocka_unit_test(test_all_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
