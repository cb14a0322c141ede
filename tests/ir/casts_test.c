// Tests the pass `casts` on graphs with repeated blocks: how many casts they have after it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/ir.h"

#define PARAMETERS                                                                                 \
    "graph \"g\" training {\n  class 1 \"\" 2\n  input %x f32[4,4]\n  input %z f32[4,4]\n"         \
    "  parameter %v0 f32[4,4] block 1.0.0\n  parameter %v1 f32[4,4] block 1.1.0\n"                 \
    "  parameter %w0 f32[4,4] block 1.0.1\n  parameter %w1 f32[4,4] block 1.1.1\n"
// An iteration: two products read what it gets, and their results are multiplied. Its casts are a
// (of `x`), b (of `y`), p and q. Its result is `r`.
#define LAYER(i, x, y)                                                                             \
    "  %a" i " bf16[4,4] = cast(%" x ") to=bf16 block 1." i ".0\n"                                 \
    "  %p" i " bf16[4,4] = cast(%v" i ") to=bf16 block 1." i ".1\n"                                \
    "  %c" i " bf16[4,4] = dot(%a" i ", %p" i ") eq=\"mk,kn->mn\" block 1." i ".2\n"               \
    "  %b" i " bf16[4,4] = cast(%" y ") to=bf16 block 1." i ".3\n"                                 \
    "  %q" i " bf16[4,4] = cast(%w" i ") to=bf16 block 1." i ".4\n"                                \
    "  %d" i " bf16[4,4] = dot(%b" i ", %q" i ") eq=\"mk,kn->mn\" block 1." i ".5\n"               \
    "  %e" i " bf16[4,4] = dot(%c" i ", %d" i ") eq=\"mk,kn->mn\" block 1." i ".6\n"               \
    "  %r" i " f32[4,4] = cast(%e" i ") to=f32 block 1." i ".7\n"
#define SECOND(i) "  %s" i " f32[4,4] = cast(%d" i ") to=f32 block 1." i ".8\n"
#define OUTPUT "  output model \"y\" %r1\n"

// `casts`: of an iteration.
static const struct {
    const char *what, *graph;
    int casts;
} cases[] = {
    // The first iteration reads f32, the second one a half that was widened. So the class is
    // closed: both cast what they get (once), the parameters and the result.
    {"one value", PARAMETERS LAYER("0", "x", "x") LAYER("1", "r0", "r0") OUTPUT "}\n", 4},
    // Two values that are equal in the first iteration alone.
    {"two values",
     PARAMETERS LAYER("0", "x", "x") SECOND("0") LAYER("1", "r0", "s0") SECOND("1") OUTPUT
     "  output model \"s\" %s1\n}\n",
     6},
    {"a value of all iterations",
     PARAMETERS LAYER("0", "x", "z") LAYER("1", "r0", "z") OUTPUT "}\n", 5},
};

static void test_classes(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Diag d = {.file = cases[i].what};
        int n[2] = {0};
        Graph *g = graph_parse(a, cases[i].graph, strlen(cases[i].graph), &d);
        assert_non_null(g);
        assert_true(casts(g, &d) && graph_verify(g, &d));
        assert_int_equal(g->n_classes, 2);
        for (NodeId k = 1; k < g->n_nodes; k++)
            if (!strcmp(g->nodes[k].op->name, "cast"))
                n[g->nodes[k].block.iter]++;
        if (n[0] != cases[i].casts || n[1] != n[0])
            fail_msg("%s: %d and %d casts, not %d", cases[i].what, n[0], n[1], cases[i].casts);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
