// Tests the messages about graphs that trainers can't compute.
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
     "  %y bf16[2] = cast(%x) to=bf16\n",
     "(cast): trainers don't compute in bf16 yet: export the model in f32"},
    {"  input %x f16[2]\n"
     "  %y f32[2] = cast(%x) to=f32\n",
     "(cast): trainers don't compute in f16 yet: export the model in f32"},
    {"  input %x f64[1,2,5]\n"
     "  parameter %w f64[3,2,2]\n"
     "  %y f64[1,3,4] = conv(%x, %w)\n",
     "(conv): no kernel takes operands of these types and dims"},
    {"  input %x f64[1,2,5]\n"
     "  %y f64[1,2,4] = sum_pool(%x) size=[2]\n",
     "(sum_pool): no kernel takes operands of these types and dims"},
    {"  input %q f64[3,2]\n"
     "  input %k f64[4,2]\n"
     "  %y f64[3,2], %lse f64[3] = attention(%q, %k, %k) eq=\"se,te,tf->sf\"\n",
     "(attention): no kernel takes operands of these types and dims"},
    {"  input %x f32[2]\n"
     "  %y f32[4] = all_gather(%x) axes=[0] ranks=[2] dim=0 size=4\n",
     "(all_gather): it stands between ranks, and there is one"},
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
        assert_null(lower(a, NULL, g, &(LowerOptions){.fuse = true, .accumulate = 1}, &d));
        if (!strstr(said.s, cases[i].message))
            fail_msg("%s, not %s", said.s, cases[i].message);
        text_free(&text);
        text_free(&said);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
