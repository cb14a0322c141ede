// Tests the pass refine against tests/cases/refine.cases, and its time on a large graph.
#include <time.h>

#include "tests/ir/pass_cases.h"

static void golden(void **state)
{
    (void)state;
    cases_check("tests/cases/refine.cases", refine);
}

// A chain of 30,000 nodes whose dims are all related, and a split at its end.
static void large(void **state)
{
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = graph_new(a, "g");
    struct timespec start, end;

    (void)state;
    g->diag = &d;
    ValueId w = graph_value(g, VALUE_PARAMETER, "w", F32, 2, (int64_t[]){48, 48});
    ValueId x = graph_value(g, VALUE_INPUT, "x", F32, 2, (int64_t[]){64, 48});
    for (int i = 0; i < 6000; i++) {
        ValueId y = make_dot(g, x, w, "bc,cd->bd");
        x = make_add(g, make_tanh(g, y), make_mul(g, x, make_neg(g, x)));
    }
    x = make_reshape(g, x, 4, (int64_t[]){4, 16, 6, 8});
    graph_output(g, "y", x, OUTPUT_MODEL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_true(refine(g, &d));
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ms =
        (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
    printf("# %d nodes in %.0f ms\n", g->n_nodes - 1, ms);
    assert_int_equal(g->n_nodes - 1, 30000);
    assert_int_equal(value_of(g, g->outputs[0].value)->rank, 4);
    for (ValueId v = 1; v < g->n_values; v++)
        assert_int_equal(value_of(g, v)->rank, 4);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(large)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
