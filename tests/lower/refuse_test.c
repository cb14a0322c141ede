// Tests the messages about graphs that trainers can't compute, or can't compute as loops.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"

static const struct {
    const char *lines, *message;
} cases[] = {
    {"  input %x f32[2]\n"
     "  %h bf16[2] = cast(%x) to=bf16\n"
     "  %y bf16[2] = add(%h, %h)\n",
     "(add): trainers don't compute in bf16: export the model in f32, and give --precision"},
    {"  input %x f16[2]\n"
     "  %y f16[2] = tanh(%x)\n",
     "(tanh): trainers don't compute in f16: export the model in f32, and give --precision"},
    {"  input %x f64[1,2,5]\n"
     "  parameter %w f64[3,2,2]\n"
     "  %y f64[1,3,4] = conv(%x, %w)\n",
     "(conv): the target cpu computes it with operands of f32, f16 or bf16 only"},
    {"  input %x f64[1,2,5]\n"
     "  %y f64[1,2,4] = sum_pool(%x) size=[2]\n",
     "(sum_pool): the target cpu computes it with operands of f32 only"},
    {"  input %q f64[3,2]\n"
     "  input %k f64[4,2]\n"
     "  %y f64[3,2], %m f64[3], %sum f64[3] = attention(%q, %k, %k) eq=\"se,te,tf->sf\"\n",
     "(attention): the target cpu computes it with operands of f32, f16 or bf16 only"},
    {"  input %x f32[2]\n"
     "  %y f32[4] = all_gather(%x) axes=[0] ranks=[2] dim=0 size=4\n",
     "(all_gather): it is a collective, but the program has one rank"},
};

static void refusals(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text text = {0}, said = {0};
        Diag d = {.file = "case", .to = &said};

        text_printf(&text, "graph \"g\" {\n%s  output model \"y\" %%y\n}\n", cases[i].lines);
        Graph *g = graph_parse(a, text.s, text.n, &d);
        if (!g)
            fail_msg("%s", said.s);
        assert_null(lower(
            a, NULL, g, &(LowerOptions){.target = &target_cpu, .fuse = true, .accumulate = 1}, &d));
        if (!strstr(said.s, cases[i].message))
            fail_msg("%s, not %s", said.s, cases[i].message);
        text_free(&text);
        text_free(&said);
        arena_free(a);
    }
}

// Iterations that read both neighbours can't be a loop. The warning names the block even if it has
// no name.
static void no_loop(void **state)
{
    static const char *const names[] = {"h", "h", "", "repeated block 1"};

    for (int i = 0; i < COUNT(names); i += 2) {
        Arena *a = arena_new();
        Text text = {0}, said = {0};
        Diag d = {.file = "case", .to = &said};

        text_printf(&text,
                    "graph \"g\" {\n"
                    "  class 1 \"%s\" 3\n"
                    "  input %%x f32[4,4]\n"
                    "  %%a0 f32[4,4] = neg(%%x) block 1.0.0\n"
                    "  %%a1 f32[4,4] = neg(%%a0) block 1.1.0\n"
                    "  %%a2 f32[4,4] = neg(%%a1) block 1.2.0\n"
                    "  %%b2 f32[4,4] = mul(%%x, %%a2) block 1.2.1\n"
                    "  %%b1 f32[4,4] = mul(%%b2, %%a1) block 1.1.1\n"
                    "  %%b0 f32[4,4] = mul(%%b1, %%a0) block 1.0.1\n"
                    "  output model \"y\" %%b0\n"
                    "}\n",
                    names[i]);
        Graph *g = graph_parse(a, text.s, text.n, &d);
        assert_non_null(lower(
            a, NULL, g, &(LowerOptions){.target = &target_cpu, .fuse = true, .accumulate = 1}, &d));
        assert_string_equal(said.s, arena_string(a,
                                                 "case: warning: the 3 iterations of %s can't be a "
                                                 "loop and are compiled one by one\n",
                                                 names[i + 1]));
        text_free(&text);
        text_free(&said);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals), cmocka_unit_test(no_loop)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
