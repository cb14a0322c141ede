// Tests the kernel of resampling against the operator's eval, and other numbers of threads against
// one. `resample_test COUNT` tries more shapes.
#include "ir/build.h"
#include "tests/runtime/resample.h"

static const char *const modes[] = {"floor", "ceil", "round_down", "round_up", "linear", "cubic"};

static ValueId make_node(Graph *g, const RtResample *p)
{
    int64_t in = p->transposed ? p->size : p->n, out = p->transposed ? p->n : p->size;
    int64_t dim[] = {p->outer, in, p->inner};
    ValueId x = graph_value(g, VALUE_INPUT, "x", p->type == RT_F32 ? F32 : F64, 3, dim);
    Resampling r = {.mode = modes[p->mode],
                    .shift = p->shift,
                    .mul = p->mul,
                    .div = p->div,
                    .offset = p->offset,
                    .cubic = p->cubic,
                    .stretch = p->stretch,
                    .exclude = p->exclude};

    return p->transposed ? make_resample_transposed(g, x, 1, out, &r)
                         : make_resample(g, x, 1, out, &r);
}

// The result by eval, as elements of the kernel's type.
static const void *evaluate(Arena *a, const RtResample *p, const void *x, int64_t *bytes)
{
    Diag d = {.file = "resample"};
    Graph *g = graph_new(a, "g");

    g->diag = &d;
    ValueId v = make_node(g, p);
    assert_true(v);
    const Node *n = producer(g, v);
    Tensor in_ = tensor_new(a, in(g, n, 0)->dtype, 3, in(g, n, 0)->dim), out_;
    for (int64_t i = 0; i < tensor_count(&in_); i++)
        in_.f[i] = p->type == RT_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
    node_eval(a, g, n, &in_, &out_);
    *bytes = value_bytes(out(g, n));
    return tensor_pack(a, &out_);
}

static void *draw_numbers(Random *r, RtType t, int64_t n)
{
    double *x = malloc(8 * (size_t)(n + 1));

    for (int64_t i = 0; i < n; i++)
        if (t == RT_F32)
            ((float *)(void *)x)[i] = draw_float(r);
        else
            x[i] = (double)draw_float(r);
    return x;
}

static void check_near(const RtResample *p, const void *got, const void *want, int64_t count)
{
    // Each result is a sum of taps whose weights sum to about 1, or their adjoint.
    double limit = (p->type == RT_F32 ? 4e-6 : 1e-13) * (p->transposed ? 1 + (double)p->size : 8);

    for (int64_t i = 0; i < count; i++) {
        double a = p->type == RT_F32 ? (double)((const float *)got)[i] : ((const double *)got)[i];
        double b = p->type == RT_F32 ? (double)((const float *)want)[i] : ((const double *)want)[i];
        if (!(fabs(a - b) <= limit))
            fail_msg("outer %" PRId64 " n %" PRId64 " size %" PRId64 " inner %" PRId64
                     " mode %d transposed %d: element %" PRId64 " is %.9g, not %.9g",
                     p->outer, p->n, p->size, p->inner, p->mode, p->transposed, i, a, b);
    }
}

static void check(Random *r, const RtResample *p)
{
    Arena *a = arena_new();
    int64_t bytes, in = p->outer * p->inner * (p->transposed ? p->size : p->n);
    void *x = draw_numbers(r, p->type, in), *first = NULL;
    const void *want = evaluate(a, p, x, &bytes);

    for (int threads = 1; threads <= 8; threads = threads * 2 + (threads == 2)) {
        Rt rt = rt_new(threads, rt_resample_workspace(p));
        void *y = malloc((size_t)bytes + (bytes == 0));
        memset(y, 0xff, (size_t)bytes);
        rt_resample(&rt, p, y, x);
        if (p->mode < RT_FILTER_LINEAR && !p->transposed)
            assert_memory_equal(y, want, (size_t)bytes);
        check_near(p, y, want, bytes / rt_type_bytes(p->type));
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
        RtResample p = draw_resample(&r, i % 10 ? 70 : 300);
        check(&r, &p);
    }
}

// Large enough for several threads and blocks; and longer than a block of lines reads.
static void test_large_shapes(void **state)
{
    static const struct {
        int64_t outer, n, size, inner;
        double stretch;
    } shapes[] = {{70, 130, 260, 1, 1},   {33, 700, 300, 1, 1},  {40, 3000, 40, 1, 1},
                  {3, 50000, 7, 1, 7143}, {2, 60, 120, 1500, 1}, {1, 20000, 50000, 1, 1},
                  {4, 300, 40, 33, 7.5}};
    Random r = {2};

    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int k = 0; k < 6; k++) {
            RtResample p = {.type = k % 3 ? RT_F32 : RT_F64,
                            .outer = shapes[i].outer,
                            .n = shapes[i].n,
                            .size = shapes[i].size,
                            .inner = shapes[i].inner,
                            .mode = k % 3 == 1 ? RT_NEAREST_DOWN : RT_FILTER_LINEAR,
                            .shift = 0.5,
                            .mul = (double)shapes[i].n,
                            .div = (double)shapes[i].size,
                            .offset = -0.5,
                            .stretch = shapes[i].stretch,
                            .transposed = k >= 3};
            check(&r, &p);
        }
}

// An element that isn't finite reaches the results that read it, and no others.
static void test_infinity(void **state)
{
    enum { N = 48, SIZE = 96 };

    for (int inner = 1; inner <= 2; inner++) {
        RtResample p = {.type = RT_F32,
                        .outer = 32,
                        .n = N,
                        .size = SIZE,
                        .inner = inner,
                        .mode = RT_FILTER_LINEAR,
                        .shift = 0.5,
                        .mul = N,
                        .div = SIZE,
                        .offset = -0.5,
                        .stretch = 1};
        int64_t lines = p.outer * inner;
        float *x = calloc((size_t)(lines * N), sizeof *x);
        float *y = calloc((size_t)(lines * SIZE), sizeof *y);
        Rt rt = rt_new(1, rt_resample_workspace(&p));
        for (int64_t i = 0; i < p.outer; i++)
            x[(i * N + 10) * inner] = INFINITY;
        rt_resample(&rt, &p, y, x);
        for (int64_t i = 0; i < lines * SIZE; i++) {
            int64_t o = i / inner % SIZE;
            bool reads = i % inner == 0 && o >= 19 && o <= 22;
            assert_true(reads ? isinf(y[i]) : y[i] == 0);
        }
        rt_delete(&rt);
        free(x);
        free(y);
    }
}

// Positions whose taps are all outside read nothing.
static void test_outside(void **state)
{
    for (int i = 0; i < 4; i++) {
        RtResample p = {.type = RT_F32,
                        .outer = 1,
                        .n = 5,
                        .size = 3,
                        .inner = 1 + i / 2,
                        .mode = RT_FILTER_CUBIC,
                        .mul = 1,
                        .div = 1,
                        .offset = i % 2 ? 50 : -50,
                        .stretch = 1,
                        .exclude = true};
        float x[10], y[6];
        Rt rt = rt_new(1, rt_resample_workspace(&p));
        for (int k = 0; k < 10; k++)
            x[k] = INFINITY;
        rt_resample(&rt, &p, y, x);
        for (int64_t k = 0; k < p.size * p.inner; k++)
            assert_true(y[k] == 0);
        rt_delete(&rt);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_large_shapes),
        cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_outside),
    };

    count = argc > 1 ? atoi(argv[1]) : count;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
