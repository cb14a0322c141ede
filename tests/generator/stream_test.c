// Tests fused groups whose results are too large for caches: flat ones, short rows with a
// transposed operand, long rows. The programs must have eval's numbers and write these results by
// streaming stores. They must prefetch operands that are too large for a core's cache, next to a
// transposed operand and before expensive arithmetic, and sum there in lanes, with whole lines and
// a remainder.
#include "tests/generator/program.h"

enum { STREAMED = 3, SUM = 5, RESULTS = 7 };

static void add_results(Cases *c, ValueId *result)
{
    const int64_t few[] = {65600, 272}, transposed[] = {272, 65600}, many[] = {2080, 8208};
    ValueId x = add_input(c, F32, 2, few, (Mark){0}), y = add_input(c, F32, 2, many, (Mark){0});
    ValueId z =
        make_transpose(c->g, add_input(c, F32, 2, transposed, (Mark){0}), (int64_t[]){1, 0});
    ValueId v = add_input(c, F32, 1, transposed, (Mark){0});
    ValueId most = make_reduce_max(c->g, y, 1, (int64_t[]){1});

    result[0] = make_mul(c->g, x, x);
    result[1] = make_add(c->g, z, make_broadcast(c->g, v, 2, few, (int64_t[]){1}));
    result[2] = make_sub(c->g, y, make_broadcast(c->g, most, 2, many, (int64_t[]){0}));
    const int64_t uncached[] = {300, 1100}, cached[] = {200, 1100};
    result[3] = make_erf(c->g, add_input(c, F32, 2, uncached, (Mark){0}));
    result[4] = make_erf(c->g, add_input(c, F32, 2, cached, (Mark){0}));
    ValueId low = make_less_max(c->g, add_input(c, F32, 2, uncached, (Mark){0}), 1, (int64_t[]){1});
    result[SUM] = make_reduce_sum(c->g, make_exp(c->g, low), 1, (int64_t[]){1});
    const int64_t narrow[] = {5000, 64}, across[] = {64, 5000};
    ValueId back = make_transpose(c->g, add_input(c, F32, 2, across, (Mark){0}), (int64_t[]){1, 0});
    result[6] = make_add(c->g, back, add_input(c, F32, 2, narrow, (Mark){0}));
    for (int i = 0; i < RESULTS; i++)
        graph_output(c->g, arena_string(c->arena, "y%d", i), result[i], OUTPUT_MODEL);
    // An operand that is an output stays until the end, so no result is written over it.
    graph_output(c->g, "x", x, OUTPUT_MODEL);
    graph_output(c->g, "y", y, OUTPUT_MODEL);
}

static int count_calls(const char *file, const char *call, Diag *d)
{
    size_t length = strlen(call);
    int n = 0;
    File f;

    assert_true(file_map(file, &f, d));
    for (size_t i = 0; i + length <= f.size; i++)
        n += !memcmp((const char *)f.data + i, call, length);
    file_unmap(&f);
    return n;
}

static void check_result(const Cases *c, ValueId v, const void *data, const Tensor *want,
                         float bound)
{
    Arena *a = arena_new();
    Value from = *value_of(c->g, v);

    from.data = data;
    Tensor got = tensor_of(a, &from);
    for (int64_t i = 0; i < tensor_count(&got); i++)
        assert_true(fabs(got.f[i] - want->f[i]) <= bound);
    arena_free(a);
}

static void streamed_results_are_eval(void **state)
{
    char dir[] = "/tmp/far_test.XXXXXX";
    Cases c = {.arena = arena_new(), .r = {1}};
    Diag d = {.file = "far"};
    ValueId result[RESULTS];

    c.g = graph_new(c.arena, "far");
    c.g->diag = &d;
    add_results(&c, result);
    assert_true(graph_verify(c.g, &d));
    assert_non_null(mkdtemp(dir));
    write_program(&c, "far", dir, &d);
    const char *file = arena_string(c.arena, "%s/far.c", dir);
    assert_int_equal(count_calls(file, "RT_STREAM(", &d), STREAMED);
    assert_int_equal(count_calls(file, "RT_PREFETCH(", &d), 2);
    assert_int_equal(count_calls(file, "RT_PREFETCH_ROW(", &d), 1);
    assert_int_equal(count_calls(file, "rt_exp_lowf(", &d), 2);
    compile_all(dir, "-O1");
    Loaded p = load_program(dir, "far");
    Tensor *values = eval_values(c.arena, &c);
    char *arena = run_program(&c, p.model, values, 2);
    for (int i = 0; i < RESULTS; i++)
        check_result(&c, result[i], arena + find_tensor(p.model, c.g->outputs[i].name)->at,
                     &values[result[i]],
                     i < STREAMED ? 0
                     : i == SUM   ? 1e-3f
                                  : 2e-7f);
    free(arena);
    dlclose(p.handle);
    remove_program(dir, "far");
    rmdir(dir);
    arena_free(c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streamed_results_are_eval)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
