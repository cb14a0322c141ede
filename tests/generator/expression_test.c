// The brackets of expressions that are inserted into others. A $ is where.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "generator/group/expression.h"

static const struct {
    const char *pattern, *operand, *expected;
} cases[] = {
    {"$ + x", "a + b", "a + b + x"},
    {"x + $", "a + b", "x + (a + b)"},
    {"x + $", "a * b", "x + a * b"},
    {"x - $", "a - b", "x - (a - b)"},
    {"$ * x", "a + b", "(a + b) * x"},
    {"$ / x", "a * b", "a * b / x"},
    {"x / $", "a * b", "x / (a * b)"},
    {"x * $ + y", "a + b", "x * (a + b) + y"},
    {"x + $ * y", "a * b", "x + a * b * y"},
    {"f($, x)", "a + b", "f(a + b, x)"},
    {"f(x, $)", "a ? b : c", "f(x, a ? b : c)"},
    {"(f(x) + $) * y", "a ? b : c", "(f(x) + (a ? b : c)) * y"},
    {"-$", "a", "-a"},
    {"-$", "-a", "-(-a)"},
    {"-$", "a * b", "-(a * b)"},
    {"-$", "f(a + b)", "-f(a + b)"},
    {"x - $", "-1.0f", "x - -1.0f"},
    {"(float)$", "a + b", "(float)(a + b)"},
    {"(float)$", "(double)a", "(float)(double)a"},
    {"(int64_t)$ < (int64_t)x", "a + b", "(int64_t)(a + b) < (int64_t)x"},
    {"x * $", "(float)a", "x * (float)a"},
    {"x * $", "((const float *)p[1])[i + 2]", "x * ((const float *)p[1])[i + 2]"},
    {"x * $", "1e-05f", "x * 1e-05f"},
    {"$ ? x : y", "a < b", "a < b ? x : y"},
    {"$ ? x : y", "a ? b : c", "(a ? b : c) ? x : y"},
    {"$ ? x : y", "a && b", "a && b ? x : y"},
    {"x ? $ : y", "a ? b : c", "x ? (a ? b : c) : y"},
    {"x ? y : $", "a ? b : c", "x ? y : a ? b : c"},
    // gcc or clang warns of these without brackets
    {"$ ? x : y", "a & b", "(a & b) ? x : y"},
    {"$ ? x : y", "a | b", "(a | b) ? x : y"},
    {"x & $", "a < b", "x & (a < b)"},
    {"$ & x", "a == b", "(a == b) & x"},
    {"x | $", "a & b", "x | (a & b)"},
    {"$ | x", "a | b", "a | b | x"},
    {"$ | x", "a + b", "(a + b) | x"},
    {"$ < x", "a < b", "(a < b) < x"},
    {"$ == x", "!a", "(!a) == x"},
    {"!$", "a == b", "!(a == b)"},
    {"i < e0 && j < e1 ? $ : 0", "a + b", "i < e0 && j < e1 ? a + b : 0"},
};

static void test_brackets(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        const char *pattern = cases[i].pattern, *hole = strchr(pattern, '$');
        Text t = {0};
        text_put(&t, pattern, (size_t)(hole - pattern));
        print_operand_at(&t, pattern, hole, hole + 1, cases[i].operand);
        text_printf(&t, "%s", hole + 1);
        assert_string_equal(t.s, cases[i].expected);
        text_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_brackets)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
