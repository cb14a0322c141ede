// Tests which numbers an input may hold. Each case has the lines of a graph with an input i, and
// the range of i.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/ir.h"

// %x is %i, where negative indices count from the end of 10.
#define WRAP                                                                                       \
    "  constant %zero i64[] = 0\n  %z i64[4] = broadcast(%zero) shape=[4] dims=[]\n"               \
    "  constant %ten i64[] = 10\n  %n i64[4] = broadcast(%ten) shape=[4] dims=[]\n"                \
    "  %below bool[4] = lt(%i, %z)\n  %end i64[4] = add(%i, %n)\n"                                 \
    "  %x i64[4] = select(%below, %end, %i)\n"
#define TABLES                                                                                     \
    "  parameter %w f32[10,3]\n  buffer %b f32[7,3]\n  input %data f32[5,3]\n"                     \
    "  input %i i64[4]\n  input %rows f32[4,3]\n"

static const struct {
    const char *what, *lines;
    int64_t least, bound;
} cases[] = {
    {"a parameter", "  %y f32[4,3] = gather(%w, %i)\n", 0, 10},
    {"negative ones count from the end", WRAP "  %y f32[4,3] = gather(%w, %x)\n", -10, 10},
    {"the size added isn't the table's", WRAP "  %y f32[4,3] = gather(%b, %x)\n", 0, 0},
    {"two tables",
     WRAP "  %y0 f32[4,3] = gather(%w, %x)\n  %y1 f32[4,3] = gather(%b, %i)\n"
          "  %y f32[4,3] = add(%y0, %y1)\n",
     0, 7},
    {"rows of data", "  %y f32[4,3] = gather(%data, %i)\n", 0, 5},
    {"rows that are put", "  %y f32[6,3] = scatter(%rows, %i) n=6 reduction=\"add\"\n", 0, 6},
    {"another axis, a view of the table and of the index",
     "  %t f32[3,10] = transpose(%w) perm=[1,0]\n  %r i64[2,2] = reshape(%i) shape=[2,2]\n"
     "  %y f32[3,2,2] = gather(%t, %r) axis=1\n",
     0, 10},
    {"a part of the index",
     "  %s i64[2] = slice(%i) start=[0] size=[2] stride=[1]\n  %y f32[2,3] = gather(%w, %s)\n", 0,
     0},
    {"computed from the index", "  %s i64[4] = mul(%i, %i)\n  %y f32[4,3] = gather(%w, %s)\n", 0,
     0},
};

static IndexRange range_of(const char *lines)
{
    Arena *a = arena_new();
    Text said = {0}, t = {0};
    Diag d = {.file = "case", .to = &said};
    IndexRange r = {-1, -1};

    text_printf(&t, "graph \"g\" {\n%s%s  output model \"y\" %%y\n}\n", TABLES, lines);
    Graph *g = graph_parse(a, t.s, t.n, &d);
    if (!g)
        fail_msg("%s\n%s", t.s, said.s);
    for (ValueId v = 1; v < g->n_values; v++)
        if (!strcmp(value_of(g, v)->name ? value_of(g, v)->name : "", "i"))
            r = input_range(g, v);
    text_free(&t);
    text_free(&said);
    arena_free(a);
    return r;
}

static void ranges(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        IndexRange r = range_of(cases[i].lines);
        if (r.least != cases[i].least || r.bound != cases[i].bound)
            fail_msg("%s: [%d, %d), expected [%d, %d)", cases[i].what, (int)r.least, (int)r.bound,
                     (int)cases[i].least, (int)cases[i].bound);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
