// Tests sums of a convolution's result, which lies in memory with channels last: over every set of
// dims, alone and as a part of a concat. Programs must have eval's numbers.
#include "tests/generator/program.h"

enum { MAX_RESULTS = 64 };

// All sizes differ, so that a wrong order of dims shows. Only a part of the channels is summed, so
// that no pass can move the sum before the convolution.
static const int64_t image[] = {3, 5, 6, 7}, window[] = {12, 5, 1, 1};
static const int64_t part[] = {3, 11, 6, 7};

static ValueId slice_from(Graph *g, ValueId v, int64_t channel)
{
    const int64_t start[] = {0, channel, 0, 0}, stride[] = {1, 1, 1, 1};

    return make_slice(g, v, start, part, stride);
}

// Multiplies neighbouring channels of a convolution.
static ValueId add_product(Cases *c, const int64_t *dim)
{
    const Window plain = {.n = 2, .stride = {1, 1}, .dilation = {1, 1}};
    ValueId x = add_input(c, F32, 4, dim, (Mark){0}), w = add_input(c, F32, 4, window, (Mark){0});
    ValueId y = make_conv(c->g, x, w, &plain, 1);

    return make_mul(c->g, slice_from(c->g, y, 0), slice_from(c->g, y, 1));
}

// Adds sums over every subset of the dims. Each is an output, and a second one is in a concat.
static int add_sums(Cases *c, ValueId *result)
{
    int n = 0;

    for (int subset = 1; subset < 16; subset++) {
        int64_t axes[4], n_axes = 0;
        for (int i = 0; i < 4; i++)
            if (subset >> i & 1)
                axes[n_axes++] = i;
        ValueId sum = make_reduce_sum(c->g, add_product(c, image), (int)n_axes, axes);
        ValueId other = make_reduce_sum(c->g, add_product(c, image), (int)n_axes, axes);
        result[n++] = sum;
        if (n_axes < 4)
            result[n++] = make_concat(c->g, 2, (ValueId[]){other, sum}, 3 - (int)n_axes);
    }
    for (int i = 0; i < n; i++)
        graph_output(c->g, arena_string(c->arena, "y%d", i), result[i], OUTPUT_MODEL);
    return n;
}

static void check_result(const Cases *c, int at, const void *data, const Tensor *want)
{
    Arena *a = arena_new();
    Value from = *value_of(c->g, c->g->outputs[at].value);

    from.data = data;
    Tensor got = tensor_of(a, &from);
    for (int64_t i = 0; i < tensor_count(&got); i++)
        if (!(fabs(got.f[i] - want->f[i]) <= 1e-4 * (1 + fabs(want->f[i]))))
            fail_msg("sum %s, element %" PRId64 " is %g, eval says %g", c->g->outputs[at].name, i,
                     got.f[i], want->f[i]);
    arena_free(a);
}

static void sums_are_eval(void **state)
{
    char dir[] = "/tmp/sums_test.XXXXXX";
    Cases c = {.arena = arena_new(), .r = {3}};
    Diag d = {.file = "sums"};
    ValueId result[MAX_RESULTS];

    c.g = graph_new(c.arena, "sums");
    c.g->diag = &d;
    int n = add_sums(&c, result);
    assert_true(graph_verify(c.g, &d));
    assert_non_null(mkdtemp(dir));
    write_program(&c, "sums", dir, &d);
    compile_all(dir, "-O1");
    Loaded p = load_program(dir, "sums");
    Tensor *values = eval_values(c.arena, &c);
    char *arena = run_program(&c, p.model, values, 2);
    for (int i = 0; i < n; i++)
        check_result(&c, i, arena + find_tensor(p.model, c.g->outputs[i].name)->at,
                     &values[result[i]]);
    free(arena);
    dlclose(p.handle);
    remove_program(dir, "sums");
    rmdir(dir);
    arena_free(c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_eval)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
