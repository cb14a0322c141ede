// Numbers that aren't finite: where they are found, and how they are told.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/rt_finite.h"

enum { N = 5000 };

static const struct {
    const char *dtype;
    int bytes;
    uint64_t word;
    int kind;  // -1: it is finite
} words[] = {
    {"F32", 4, 0x7f7fffff, -1},
    {"F32", 4, 0xff7fffff, -1},
    {"F32", 4, 1, -1},
    {"F32", 4, 0x7f800000, RT_INF},
    {"F32", 4, 0xff800000, RT_MINUS_INF},
    {"F32", 4, 0x7fc00000, RT_NAN},
    {"F32", 4, 0xff800001, RT_NAN},
    {"F64", 8, 0x7fefffffffffffff, -1},
    {"F64", 8, 0x7ff0000000000000, RT_INF},
    {"F64", 8, 0xfff0000000000000, RT_MINUS_INF},
    {"F64", 8, 0x7ff0000000000001, RT_NAN},
    {"F64", 8, 0xfff8000000000000, RT_NAN},
    {"F16", 2, 0x7bff, -1},
    {"F16", 2, 0x7c00, RT_INF},
    {"F16", 2, 0xfc00, RT_MINUS_INF},
    {"F16", 2, 0x7c01, RT_NAN},
    {"BF16", 2, 0x7f7f, -1},
    {"BF16", 2, 0x7f80, RT_INF},
    {"BF16", 2, 0xff80, RT_MINUS_INF},
    {"BF16", 2, 0x7fff, RT_NAN},
    {"I32", 4, 0x7f800000, -1},
    {"U8", 1, 0xff, -1},
    {"BOOL", 1, 1, -1},
};

// Each word alone among zeros, at offsets around the ends of the parts that are looked at together,
// at an odd address.
static void of_words(void **state)
{
    static const int64_t offsets[] = {0, 1, 1022, 1023, 1024, 1025, 2048, N - 1};
    char *x = calloc(N + 1, 8);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
            char *at = x + 1 + offsets[k] * words[i].bytes;
            RtNonfiniteKind kind = RT_NAN;

            memcpy(at, &words[i].word, (size_t)words[i].bytes);
            int64_t found = rt_nonfinite_find(words[i].dtype, x + 1, N, &kind);
            assert_int_equal(found, words[i].kind < 0 ? -1 : offsets[k]);
            if (found >= 0)
                assert_int_equal(kind, words[i].kind);
            assert_int_equal(rt_nonfinite_find(words[i].dtype, x + 1, offsets[k], &kind), -1);
            memset(at, 0, 8);
        }
    free(x);
}

// Random bits, which isfinite judges.
static void of_bits(void **state)
{
    uint32_t seed = 1;

    for (int i = 0; i < 200000; i++) {
        float x[3] = {0};
        RtNonfiniteKind kind = RT_NAN;
        seed = seed * 1664525 + 1013904223;
        uint32_t word = i & 1 ? seed | 0x7f800000 : seed;
        memcpy(&x[1], &word, 4);
        int64_t found = rt_nonfinite_find("F32", x, 3, &kind);
        assert_int_equal(found, isfinite(x[1]) ? -1 : 1);
        if (found > 0)
            assert_int_equal(kind, isnan(x[1]) ? RT_NAN : x[1] > 0 ? RT_INF : RT_MINUS_INF);
    }
}

static const struct {
    RtStored tensor;
    RtNonfinite found;
    const char *text;
} texts[] = {
    {{.name = "w", .rank = 2, .dim = {3, 4}}, {1, 7, RT_NAN}, "'w'[1, 3] is NaN"},
    {{.name = "w", .rank = 1, .dim = {3}}, {1, 2, RT_INF}, "'w'[2] is inf"},
    {{.name = "w"}, {1, 0, RT_MINUS_INF}, "'w' is -inf"},
    {{.name = "a\nb", .rank = 3, .dim = {2, 1, 2}}, {5, 3, RT_NAN}, "'a\\x0ab'[1, 0, 1] is NaN"},
};

static void of_texts(void **state)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[80];

        rt_nonfinite_print(text, sizeof text, &texts[i].tensor, &texts[i].found);
        assert_string_equal(text, texts[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_words),
        cmocka_unit_test(of_bits),
        cmocka_unit_test(of_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
