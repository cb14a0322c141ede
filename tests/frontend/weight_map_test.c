// Tests the map of --weight-map: what is read, what is refused and in which words, and which names
// match a line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frontend/weight_file.h"

static const struct {
    const char *text, *result;
} maps[] = {
    {"", ""},
    {"# nothing\n\n", ""},
    {"a = b", "a = b\n"},
    {"  a.*.w\t=h.*.v # why\r\n", "a.*.w = h.*.v\n"},
    {"a = stack(e.{2..4}.w)", "a = stack(e.2.w, e.3.w, e.4.w)\n"},
    {"a = stack(concat(p.{0..1}, q.{0..1}), r)",
     "a = stack(concat(p.0, q.0), concat(p.1, q.1), r)\n"},
    {"a = transpose(concat(p.{0..1}))", "a = transpose(concat(p.0, p.1))\n"},
    {"a = stack(transpose(p.{8..9}))", "a = stack(transpose(p.8), transpose(p.9))\n"},
    {"keep \"x y\"\nkeep h.*", "keep \"x y\"\nkeep h.*\n"},
    {"\"a=b\" = \"c\\\"{0..1}\\\\\"", "\"a=b\" = \"c\\\"{0..1}\\\\\"\n"},
    {"keep = a", "keep = a\n"},
    {"onnx::MatMul_7 = transpose(/h.0/w)", "onnx::MatMul_7 = transpose(/h.0/w)\n"},
    {"a", "error: line 1: expected '='\n"},
    {"keep", "error: line 1: expected '=' or a name to keep\n"},
    {"a b", "error: line 1: expected '=', found 'b'\n"},
    {"\na =", "error: line 2: expected a name or a function\n"},
    {"a = b c", "error: line 1: expected the end of the line, found 'c'\n"},
    {"a = (b)", "error: line 1: expected a name or a function, found '('\n"},
    {"a = sum(b)", "error: line 1: 'sum' is not one of stack, concat, transpose\n"},
    {"a = stack(b", "error: line 1: expected ')'\n"},
    {"a = stack(b,)", "error: line 1: expected a name or a function, found ')'\n"},
    {"a = stack()", "error: line 1: expected a name or a function, found ')'\n"},
    {"a = transpose(b, c)", "error: line 1: transpose takes one operand\n"},
    {"a = b.{0..1}", "error: line 1: 'b.{0..1}': a range must be in stack(…) or concat(…)\n"},
    {"a = transpose(b.{0..1})",
     "error: line 1: 'b.{0..1}': a range must be in stack(…) or concat(…)\n"},
    {"a = stack(b.{0..1}.{0..1})", "error: line 1: 'b.{0..1}.{0..1}' has two ranges\n"},
    {"a = stack(b.{1..0})",
     "error: line 1: 'b.{1..0}': a range is {0..7}, with numbers below 65536\n"},
    {"a = stack(b.{0..99999999999999999999})",
     "error: line 1: 'b.{0..99999999999999999999}': a range is {0..7}, with numbers below 65536\n"},
    {"a = stack(b.{x})", "error: line 1: 'b.{x}': a range is {0..7}, with numbers below 65536\n"},
    {"a = stack(concat(b.{0..1}, c.{0..2}))",
     "error: line 1: 'b.{0..1}' and 'c.{0..2}' have other ranges\n"},
    {"a.* = b.*.*", "error: line 1: 'b.*.*' has more stars than 'a.*'\n"},
    {"\"a.*\" = b.*", "error: line 1: 'b.*' has more stars than 'a.*'\n"},
    {"\"a = b", "error: line 1: a name in quotes has no end\n"},
    {"\"\" = b", "error: line 1: expected a parameter's name\n"},
    {"= b", "error: line 1: expected a parameter's name, found '='\n"},
    {"a = stack(stack(stack(stack(stack(stack(stack(stack(stack(b)))))))))",
     "error: line 1: functions in more than 8 others\n"},
};

static void test_maps(void **state)
{
    for (int i = 0; i < COUNT(maps); i++) {
        Arena *a = arena_new();
        Text t = {0};
        Diag d = {.to = &t};
        WeightMap m;

        text_put(&t, "", 0);
        if (weight_map_parse(a, maps[i].text, strlen(maps[i].text), &m, &d))
            weight_map_print(&m, &t);
        assert_string_equal(t.s, maps[i].result);
        text_free(&t);
        arena_free(a);
    }
}

static const struct {
    const char *glob, *name, *stars;  // what the stars match, each after a '|'
} globs[] = {
    {"a", "a", ""},
    {"a", "b", NULL},
    {"h.*.w", "h.12.w", "|12"},
    {"*.w", "a.w.w", "|a.w"},
    {"*.*.w", "a.b.c.w", "|a|b.c"},
    {"h.*", "h.", "|"},
    {"*", "", "|"},
    {"a*b", "ab", "|"},
    {"a*b", "abc", NULL},
    {"a*b*", "axbyb", "|x|yb"},
};

static void test_matches(void **state)
{
    for (int i = 0; i < COUNT(globs); i++) {
        const char *star[MAX_STARS];
        size_t length[MAX_STARS];
        MapLine l = {.parameter = globs[i].glob};
        Text t = {0};
        bool matches = weight_map_match(&l, globs[i].name, star, length);

        assert_true(matches == (globs[i].stars != NULL));
        text_put(&t, "", 0);
        for (int k = 0, n = 0; matches && globs[i].glob[k]; k++)
            if (globs[i].glob[k] == '*') {
                text_printf(&t, "|%.*s", (int)length[n], star[n]);
                n++;
            }
        if (matches)
            assert_string_equal(t.s, globs[i].stars);
        text_free(&t);
    }
}

// A map of every prefix and with every flipped bit is a message or a map.
static void test_damage(void **state)
{
    static const char text[] = "h.*.e = stack(concat(m.*.{0..3}.a, \"b\\\"\"), c) # d\nkeep x\n";
    size_t size = sizeof text - 1;

    for (size_t i = 0; i < 9 * size; i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.to = &said};
        WeightMap m;
        char *copy = arena_copy(a, text, size);

        if (i >= size)
            copy[i / 9] = (char)(copy[i / 9] ^ 1 << i % 8);
        assert_true(weight_map_parse(a, copy, i < size ? i : size, &m, &d) == !d.errors);
        text_free(&said);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
