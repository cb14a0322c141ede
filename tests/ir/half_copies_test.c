// Tests which nodes only serve to make half copies of parameters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/facts.h"

// The nodes after `input %x f32[4,6]`, `parameter %w f32[6,5]` and `parameter %u f32[6,5]`; the
// results of those that serve. `kept`: a value that is a copy in the form in which it is kept;
// NULL: what casts make is.
static const struct {
    const char *nodes, *kept, *serve;
} cases[] = {
    {"%c bf16[6,5] = cast(%w) to=bf16\n", NULL, "c"},
    {"%c f16[6,5] = cast(%w) to=f16\n", NULL, "c"},
    // what moves elements before the cast, or after it
    {"%t f32[5,6] = transpose(%w) perm=[1,0]\n%c bf16[5,6] = cast(%t) to=bf16\n", NULL, "t c"},
    {"%c bf16[6,5] = cast(%w) to=bf16\n%t bf16[5,6] = transpose(%c) perm=[1,0]\n", NULL, "c"},
    {"%j f32[6,10] = concat(%w, %u) axis=1\n%c bf16[6,10] = cast(%j) to=bf16\n", NULL, "j c"},
    {"%g f32[12,5] = all_gather(%w) axes=[0] ranks=[2] size=12\n%c bf16[12,5] = cast(%g) to=bf16\n",
     NULL, "g c"},
    // another reader needs what is gathered in each micro-batch
    {"%g f32[12,5] = all_gather(%w) axes=[0] ranks=[2] size=12\n%c bf16[12,5] = cast(%g) to=bf16\n"
     "%e f32[12,5] = exp(%g)\n",
     NULL, ""},
    // the copy is kept as a shard, or whole
    {"%c bf16[6,5] = cast(%w) to=bf16\n"
     "%g bf16[12,5] = all_gather(%c) axes=[0] ranks=[2] size=12\n",
     "c", "c"},
    {"%c bf16[6,5] = cast(%w) to=bf16\n"
     "%g bf16[12,5] = all_gather(%c) axes=[0] ranks=[2] size=12\n",
     "g", "c g"},
    {"%c bf16[6,5] = cast(%w) to=bf16\n%p bf16[6,10] = concat(%c, %c) axis=1\n"
     "%g bf16[12,10] = all_gather(%p) axes=[0] ranks=[2] size=12\n"
     "%s bf16[12,5] = slice(%g) start=[0,0] size=[12,5] stride=[1,1]\n",
     "s", "c p g s"},
    // no copy of a parameter
    {"%c bf16[4,6] = cast(%x) to=bf16\n", NULL, ""},
    {"%e f32[6,5] = exp(%w)\n%c bf16[6,5] = cast(%e) to=bf16\n", NULL, ""},
    {"%c f64[6,5] = cast(%w) to=f64\n", NULL, ""},
    {"%c bf16[6,5] = cast(%w) to=bf16 backward\n", NULL, ""},
    {"%t f32[5,6] = transpose(%w) perm=[1,0]\n", NULL, ""},
};

static Graph *parse(Arena *a, const char *nodes)
{
    Text t = {0};
    Diag d = {.file = "case"};

    text_printf(&t,
                "graph \"g\" training {\n  input %%x f32[4,6]\n  parameter %%w f32[6,5]\n"
                "  parameter %%u f32[6,5]\n%s}\n",
                nodes);
    Graph *g = graph_parse(a, t.s, t.n, &d);
    assert_non_null(g);
    text_free(&t);
    return g;
}

static void test_cases(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        const Graph *g = parse(a, cases[i].nodes);
        bool *is_kept = arena_array(a, bool, g->n_values);
        Text found = {0};
        for (ValueId v = 1; v < g->n_values; v++)
            is_kept[v] = cases[i].kept && !strcmp(value_of(g, v)->name, cases[i].kept);
        const bool *serves = graph_half_copies(a, g, cases[i].kept ? is_kept : NULL);
        text_printf(&found, "%s", "");
        for (NodeId n = 1; n < g->n_nodes; n++)
            if (serves[n])
                text_printf(&found, "%s%s", found.n ? " " : "", out(g, &g->nodes[n])->name);
        if (strcmp(found.s ? found.s : "", cases[i].serve))
            fail_msg("case %d: '%s', not '%s'", i, found.s, cases[i].serve);
        text_free(&found);
        arena_free(a);
    }
}

// Equal layers have equal copies: all of a class serve, or none.
static void test_layers(void **state)
{
    static const char *const layers =
        "graph \"g\" training {\n  class 1 \"\" 2\n  parameter %w f32[6,5] block 1.0.0\n"
        "  parameter %u f32[6,5] block 1.1.0\n"
        "  %c bf16[6,5] = cast(%w) to=bf16 block 1.0.0\n"
        "  %d bf16[6,5] = cast(%u) to=bf16 block 1.1.0\n}\n";
    Arena *a = arena_new();
    Diag d = {.file = "layers"};
    const Graph *g = graph_parse(a, layers, strlen(layers), &d);

    (void)state;
    assert_non_null(g);
    bool *is_kept = arena_array(a, bool, g->n_values);
    for (int k = 0; k < 4; k++) {
        is_kept[g->nodes[1].out[0]] = k & 1;
        is_kept[g->nodes[2].out[0]] = k & 2;
        const bool *serves = graph_half_copies(a, g, is_kept);
        assert_int_equal(serves[1], k == 3);
        assert_int_equal(serves[2], k == 3);
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_layers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
