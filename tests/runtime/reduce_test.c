// Tests rt_reduce against the simplest loops: random shapes, strides and reduced dims, long sums,
// types. Two threads must give the bits of one.
#include "tests/runtime/halves.h"

static void naive(const RtReduce *p, float *y, const float *x, int64_t results)
{
    double *s = malloc(sizeof(double) * (size_t)(results + 1));
    int64_t count = 1, at[RT_MAX_DIMS];

    for (int64_t i = 0; i < results; i++)
        s[i] = p->op == RT_SUM ? 0 : p->op == RT_MAX ? -INFINITY : INFINITY;
    for (int i = 0; i < p->rank; i++)
        count *= p->dim[i];
    for (int64_t k = 0; k < count; k++) {
        int64_t rest = k, from = 0, to = 0;
        for (int i = p->rank - 1; i >= 0; i--) {
            at[i] = rest % p->dim[i];
            rest /= p->dim[i];
            from += at[i] * p->stride[i];
        }
        for (int i = 0; i < p->rank; i++)
            if (!p->reduced[i])
                to = to * p->dim[i] + at[i];
        double v = (double)x[from];
        s[to] = p->op == RT_SUM ? s[to] + v : p->op == RT_MAX ? rt_max(s[to], v) : rt_min(s[to], v);
    }
    for (int64_t i = 0; i < results; i++)
        y[i] = (float)s[i];
    free(s);
}

static RtType result_type(const RtReduce *p) { return p->op == RT_SUM ? RT_F32 : p->type; }

static void check(const RtReduce *p, const Tensor *x)
{
    int64_t results = 1, length = 1;
    RtType type = result_type(p);
    float *want;
    void *y[2];

    for (int i = 0; i < p->rank; i++)
        *(p->reduced[i] ? &length : &results) *= p->dim[i];
    size_t bytes = (size_t)(results * rt_type_bytes(type));
    want = malloc(sizeof(float) * (size_t)results + 1);
    for (int t = 0; t < 2; t++) {
        Rt rt = rt_new(t + 1, rt_reduce_workspace(p));
        y[t] = malloc(bytes + 1);
        rt_reduce(&rt, p, y[t], x->data);
        rt_delete(&rt);
    }
    naive(p, want, x->value, results);
    check_tensor("reduce", type, y[0], want, results, 1e-6 * (1 + sqrt((double)length)));
    assert_memory_equal(y[0], y[1], bytes);
    free(y[0]);
    free(y[1]);
    free(want);
}

static void draw_and_check(Random *r, RtReduce *p)
{
    int64_t *stride[RT_MAX_DIMS];

    for (int i = 0; i < p->rank; i++)
        stride[i] = &p->stride[i];
    int64_t span = draw_strides(r, p->rank, p->dim, stride);
    Tensor x = draw_tensor(r, p->type, span);
    if (p->rank && draw(r, 5) == 0)
        p->stride[draw(r, p->rank)] = 0;
    check(p, &x);
    tensor_free(&x);
}

static const RtType types[] = {RT_F32, RT_BF16, RT_F16};

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < 1200; i++) {
        RtReduce p = {
            .op = (RtReduceOp)draw(&r, 3), .type = types[i % 3], .rank = (int)draw(&r, 6)};
        for (int k = 0; k < p.rank; k++) {
            p.dim[k] = draw_size(&r, 12);
            p.reduced[k] = draw(&r, 2);
        }
        draw_and_check(&r, &p);
    }
}

static void test_large_shapes(void **state)
{
    static const struct {
        int64_t dim[4];
        const char *reduced;  // '1' at each reduced dim
    } cases[] = {
        {{1, 1, 1, 3000001}, "0001"}, {{1, 1, 999, 1001}, "0011"}, {{1, 1, 999, 1001}, "0010"},
        {{1, 1, 999, 1001}, "0001"},  {{1, 9, 33, 3025}, "0101"},  {{1, 1, 70001, 3}, "0010"},
        {{1, 2, 700, 1025}, "0010"},  {{3, 40, 50, 60}, "1010"},   {{1, 1, 3, 70001}, "0001"},
        {{1, 100, 2, 2000}, "0101"},  {{1, 1, 1, 3000001}, "0000"}};
    Random r = {2};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int j = 0; j < 6; j++) {  // f32 in all ops, halves in one or two
            RtReduce p = {.op = (RtReduceOp)((j + (int)i * (j / 3)) % 3),
                          .type = j < 3 ? RT_F32 : types[1 + j % 2],
                          .rank = 4};
            int64_t span = 1;
            for (int k = 3; k >= 0; k--) {
                p.dim[k] = cases[i].dim[k];
                p.reduced[k] = cases[i].reduced[k] == '1';
                p.stride[k] = span;
                span *= p.dim[k];
            }
            Tensor x = draw_tensor(&r, p.type, span);
            check(&p, &x);
            tensor_free(&x);
        }
}

static void test_nan(void **state)
{
    float x[100], y;

    for (int i = 0; i < 9; i++) {
        RtReduce p = {.op = (RtReduceOp)(i % 3),
                      .type = types[i / 3],
                      .rank = 1,
                      .dim = {100},
                      .stride = {1},
                      .reduced = {true}};
        Rt rt = rt_new(1, rt_reduce_workspace(&p));
        for (int k = 0; k < 100; k++)
            set_element(p.type, x, k, k == 57 ? NAN : 0);
        rt_reduce(&rt, &p, &y, x);
        assert_true(isnan(element(result_type(&p), &y, 0)));
        rt_delete(&rt);
    }
}

// Sums that a half doesn't reach by additions of its own, or whose parts it doesn't have; and a
// maximum of nothing.
static void test_halves(void **state)
{
    enum { N = 4000 };

    for (int i = 1; i < 3; i++) {
        RtReduce p = {.type = types[i], .rank = 1, .dim = {N}, .stride = {1}, .reduced = {true}};
        Rt rt = rt_new(1, rt_reduce_workspace(&p));
        uint16_t x[N];
        float y;

        for (int k = 0; k < N; k++)
            set_element(p.type, x, k, 1);
        rt_reduce(&rt, &p, &y, x);
        assert_true(y == N);
        for (int k = 0; k < N; k++)
            set_element(p.type, x, k, k < N / 2 ? 60000 : -60000);
        rt_reduce(&rt, &p, &y, x);
        assert_true(y == 0);
        p.op = RT_MAX;
        p.dim[0] = 0;
        rt_reduce(&rt, &p, &y, x);
        assert_true(element(p.type, &y, 0) == -INFINITY);
        rt_delete(&rt);
    }
}

static void test_types(void **state)
{
    double f64[] = {1, 2, 3, 1e-12, 5, 6};
    int64_t i64[] = {1, INT64_MAX, 3, 4, 5, 6};
    int32_t i32[] = {1, 2, 3, -4, 5, 6};
    uint8_t u8[] = {0, 0, 1, 0, 0, 1};
    RtReduce p = {.op = RT_SUM, .rank = 2, .dim = {2, 3}, .stride = {3, 1}, .reduced = {true}};
    Rt rt = rt_new(1, 0);
    double y64[3];
    int64_t yi[3];
    int32_t y32[3];
    uint8_t y8[3];

    p.type = RT_F64;
    rt_reduce(&rt, &p, y64, f64);
    assert_true(y64[0] == 1 + 1e-12 && y64[1] == 7 && y64[2] == 9);
    p.type = RT_I64;
    rt_reduce(&rt, &p, yi, i64);
    assert_true(yi[0] == 5 && yi[1] == INT64_MIN + 4 && yi[2] == 9);
    p.type = RT_I32;
    p.op = RT_MIN;
    rt_reduce(&rt, &p, y32, i32);
    assert_true(y32[0] == -4 && y32[1] == 2 && y32[2] == 3);
    p.type = RT_BOOL;
    p.op = RT_MAX;
    rt_reduce(&rt, &p, y8, u8);
    assert_true(y8[0] == 0 && y8[1] == 0 && y8[2] == 1);
    rt_delete(&rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes), cmocka_unit_test(test_large_shapes),
        cmocka_unit_test(test_nan),           cmocka_unit_test(test_halves),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
