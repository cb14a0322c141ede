// Tests the kernel of Fourier transforms against the operator's eval, and other numbers of threads
// against one. `dft_test COUNT` tries more shapes.
#include "ir/build.h"
#include "tests/runtime/dft.h"

static double at(RtType t, const void *x, int64_t i)
{
    return t == RT_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static Tensor evaluate(Arena *a, const RtDft *p, const void *x)
{
    Diag d = {.file = "dft"};
    Graph *g = graph_new(a, "g");
    int64_t dim[] = {p->rows, p->have, p->c};
    Tensor y;

    g->diag = &d;
    ValueId in = graph_value(g, VALUE_INPUT, "x", p->type == RT_F32 ? F32 : F64, 3, dim);
    ValueId v = make_dft(g, in, p->n, p->size, p->parts, p->inverse);
    assert_true(v);
    Tensor in_ = tensor_new(a, value_of(g, in)->dtype, 3, dim);
    for (int64_t i = 0; i < tensor_count(&in_); i++)
        in_.f[i] = at(p->type, x, i);
    node_eval(a, g, producer(g, v), &in_, &y);
    return y;
}

static void check_near(const RtDft *p, const void *got, const Tensor *want)
{
    // The roundings of each pass are relative to the row's norm, at most the root of n numbers.
    double limit = (p->type == RT_F32 ? 1e-6 : 1e-14) * sqrt((double)p->n) * 2;

    for (int64_t i = 0; i < tensor_count(want); i++)
        if (!(fabs(at(p->type, got, i) - want->f[i]) <= limit))
            fail_msg("rows %" PRId64 " n %" PRId64 " have %" PRId64 " size %" PRId64
                     " c %d parts %d inverse %d: element %" PRId64 " is %.9g, not %.9g",
                     p->rows, p->n, p->have, p->size, p->c, p->parts, p->inverse, i,
                     at(p->type, got, i), want->f[i]);
}

static void check(Random *r, const RtDft *p)
{
    Arena *a = arena_new();
    int64_t width = rt_type_bytes(p->type), given = p->rows * p->have * p->c;
    int64_t bytes = p->rows * p->size * p->parts * width;
    void *x = malloc((size_t)(given * width) + (given == 0)), *first = NULL;

    for (int64_t i = 0; i < given; i++)
        if (p->type == RT_F32)
            ((float *)x)[i] = draw_float(r);
        else
            ((double *)x)[i] = (double)draw_float(r);
    Tensor want = evaluate(a, p, x);
    for (int threads = 1; threads <= 8; threads = threads * 2 + (threads == 2)) {
        Rt rt = rt_new(threads, rt_dft_workspace(p, threads));
        void *y = malloc((size_t)bytes + (bytes == 0));
        memset(y, 0xff, (size_t)bytes);
        rt_dft(&rt, p, y, x);
        check_near(p, y, &want);
        if (first)
            assert_memory_equal(y, first, (size_t)bytes);
        if (first)
            free(y);
        else
            first = y;
        rt_delete(&rt);
    }
    free(first);
    free(x);
    arena_free(a);
}

static int count = 60;

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < count; i++) {
        RtDft p = draw_dft(&r, i % 10 ? 70 : RT_DFT_MAX);
        check(&r, &p);
    }
}

// Long enough for several threads and blocks, and the longest of each kind.
static void test_large_shapes(void **state)
{
    static const int64_t n[] = {256, 32, 1024, 1021, 1023, 961};
    Random r = {2};

    for (int i = 0; i < 6; i++)
        for (int c = 1; c <= 2; c++) {
            RtDft p = {.type = RT_F32,
                       .rows = 100,
                       .n = n[i],
                       .have = n[i],
                       .size = n[i] / 2 + 1,
                       .c = c,
                       .parts = 2};
            check(&r, &p);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_shapes),
                                       cmocka_unit_test(test_large_shapes)};

    count = argc > 1 ? atoi(argv[1]) : count;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
