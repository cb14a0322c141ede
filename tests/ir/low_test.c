// Tests which values are known to be at most 1. Each case has the lines of a graph with a value
// %v.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/ir.h"

#define LARGEST "  %most f32[4] = reduce_max(%x) axes=[1]\n"
#define SPREAD(of) "  %s f32[4,4] = broadcast(" of ") shape=[4,4] dims=[0]\n"
#define LESS "  %v f32[4,4] = sub(%x, %s)\n"

static const struct {
    const char *what, *lines;
    bool is_low;
} cases[] = {
    {"less the largest", LARGEST SPREAD("%most") LESS, true},
    {"less the largest, rounded down", LARGEST "  %f f32[4] = floor(%most)\n" SPREAD("%f") LESS,
     true},
    {"less the largest of all",
     "  %most f32[] = reduce_max(%x) axes=[0,1]\n"
     "  %s f32[4,4] = broadcast(%most) shape=[4,4] dims=[]\n" LESS,
     true},
    {"less the largest of all ranks",
     LARGEST "  %r f32[4] = all_reduce(%most) axes=[0] ranks=[2] op=\"max\"\n" SPREAD("%r") LESS,
     true},
    {"a sum of the ranks' largest",
     LARGEST "  %r f32[4] = all_reduce(%most) axes=[0] ranks=[2] op=\"sum\"\n" SPREAD("%r") LESS,
     false},
    {"along another dim", LARGEST "  %s f32[4,4] = broadcast(%most) shape=[4,4] dims=[1]\n" LESS,
     false},
    {"of something else", "  %most f32[4] = reduce_max(%y) axes=[1]\n" SPREAD("%most") LESS, false},
    {"less the smallest", "  %most f32[4] = reduce_min(%x) axes=[1]\n" SPREAD("%most") LESS, false},
    {"less an input", LESS "", false},
    {"the other order", LARGEST SPREAD("%most") "  %v f32[4,4] = sub(%s, %x)\n", false},
    {"no square", "  %a f32[4,4] = mul(%x, %y)\n  %v f32[4,4] = neg(%a)\n", false},
    {"less than a square", "  %a f32[4,4] = mul(%x, %x)\n  %v f32[4,4] = neg(%a)\n", true},
    {"no more than 0", "  %a f32[4,4] = abs(%x)\n  %v f32[4,4] = neg(%a)\n", true},
    {"a number", "  %v f32[4,4] = neg(%x)\n", false},
};

static bool is_low(const char *lines)
{
    Arena *a = arena_new();
    Text said = {0}, t = {0};
    Diag d = {.file = "case", .to = &said};
    const char *s = strstr(lines, "%s f32") ? "" : "  input %s f32[4,4]\n";

    text_printf(&t, "graph \"g\" {\n  input %%x f32[4,4]\n  input %%y f32[4,4]\n%s%s", s, lines);
    text_printf(&t, "  output model \"y\" %%v\n}\n");
    Graph *g = graph_parse(a, t.s, t.n, &d);
    if (!g)
        fail_msg("%s\n%s", t.s, said.s);
    bool low = value_is_low(g, g->outputs[0].value);
    text_free(&t);
    text_free(&said);
    arena_free(a);
    return low;
}

static void low_values(void **state)
{
    for (int i = 0; i < COUNT(cases); i++)
        if (is_low(cases[i].lines) != cases[i].is_low)
            fail_msg("%s: %s", cases[i].what, cases[i].is_low ? "is low" : "isn't");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(low_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
