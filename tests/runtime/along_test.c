// Tests kernels along one dim (arg_max, cumsum, top_k) against plain loops, and two threads
// against one.
#include "tests/runtime/kernels.h"

typedef struct Shape {
    int64_t outer, n, inner, k;
} Shape;

static bool is_above(float a, float b) { return a > b || (a != a && b == b); }

static void naive_top_k(const Shape *s, const float *x, float *values, int64_t *indices)
{
    bool *taken = malloc((size_t)s->n + 1);

    for (int64_t line = 0; line < s->outer * s->inner; line++) {
        int64_t from = line / s->inner * s->n * s->inner + line % s->inner;
        int64_t to = line / s->inner * s->k * s->inner + line % s->inner;
        memset(taken, 0, (size_t)s->n);
        for (int64_t j = 0; j < s->k; j++) {
            int64_t best = -1;
            for (int64_t i = 0; i < s->n; i++)
                if (!taken[i] &&
                    (best < 0 || is_above(x[from + i * s->inner], x[from + best * s->inner])))
                    best = i;
            taken[best] = true;
            values[to + j * s->inner] = x[from + best * s->inner];
            indices[to + j * s->inner] = best;
        }
    }
    free(taken);
}

static void check_top_k(const Shape *s, const float *x)
{
    int64_t n = s->outer * s->k * s->inner;
    float *want = malloc(sizeof(float) * (size_t)(n + 1)),
          *got = malloc(sizeof(float) * (size_t)(n + 1));
    int64_t *want_at = malloc(sizeof(int64_t) * (size_t)(n + 1));
    int64_t *got_at = malloc(sizeof(int64_t) * (size_t)(n + 1));

    naive_top_k(s, x, want, want_at);
    for (int t = 1; t <= 2; t++) {
        Rt rt = rt_new(t, 0);
        rt_top_k(
            &rt,
            &(RtAlong){.type = RT_F32, .outer = s->outer, .n = s->n, .inner = s->inner, .k = s->k},
            got, got_at, x);
        assert_memory_equal(got, want, sizeof(float) * (size_t)n);
        assert_memory_equal(got_at, want_at, sizeof(int64_t) * (size_t)n);
        rt_delete(&rt);
    }
    if (s->k == 1) {  // arg_max is the first of top_k
        Rt rt = rt_new(2, 0);
        rt_arg_max(&rt, &(RtAlong){.type = RT_F32, .outer = s->outer, .n = s->n, .inner = s->inner},
                   got_at, x);
        assert_memory_equal(got_at, want_at, sizeof(int64_t) * (size_t)n);
        rt_delete(&rt);
    }
    free(want);
    free(got);
    free(want_at);
    free(got_at);
}

static void check_cumsum(const Shape *s, const float *x, bool exclusive, bool reverse)
{
    int64_t n = s->outer * s->n * s->inner;
    float *want = malloc(sizeof(float) * (size_t)(n + 1)),
          *got = malloc(sizeof(float) * (size_t)(n + 1));

    for (int64_t line = 0; line < s->outer * s->inner; line++) {
        int64_t at = line / s->inner * s->n * s->inner + line % s->inner;
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) {
            int64_t k = at + (reverse ? s->n - 1 - i : i) * s->inner;
            want[k] = (float)(exclusive ? sum : sum + (double)x[k]);
            sum += (double)x[k];
        }
    }
    for (int t = 1; t <= 2; t++) {
        Rt rt = rt_new(t, 0);
        rt_cumsum(&rt,
                  &(RtAlong){.type = RT_F32,
                             .outer = s->outer,
                             .n = s->n,
                             .inner = s->inner,
                             .exclusive = exclusive,
                             .reverse = reverse},
                  got, x);
        assert_memory_equal(got, want, sizeof(float) * (size_t)n);
        rt_delete(&rt);
    }
    free(want);
    free(got);
}

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < 300; i++) {
        Shape s = {draw_size(&r, 5), draw_size(&r, 60), draw_size(&r, draw(&r, 2) ? 3 : 90), 0};
        float *x = draw_floats(&r, s.outer * s.n * s.inner);
        check_cumsum(&s, x, draw(&r, 2), draw(&r, 2));
        for (int64_t k = 0; k < s.outer * s.n * s.inner; k++)
            x[k] = draw(&r, 30) ? rintf(x[k] * 9) : NAN;  // equal elements, and NaN
        s.k = draw(&r, 3) && s.n ? 1 : draw(&r, s.n + 1);
        check_top_k(&s, x);
        free(x);
    }
}

static void test_large_shape(void **state)
{
    Random r = {2};
    Shape s = {2, 50257, 1, 40};
    float *x = draw_floats(&r, s.outer * s.n * s.inner);

    check_top_k(&s, x);
    s.k = 1;
    check_top_k(&s, x);
    check_cumsum(&s, x, false, false);
    free(x);
}

static void test_types(void **state)
{
    int64_t x[] = {3, INT64_MAX, 5, 1}, y[4], v[2], at[2];
    int32_t x32[] = {3, -7, 5, 1}, y32[4];
    double d[] = {0.1, 0.2, 0.3}, yd[3];
    Rt rt = rt_new(1, 0);

    rt_cumsum(&rt, &(RtAlong){RT_I64, 1, 4, 1}, y, x);
    assert_true(y[0] == 3 && y[1] == INT64_MIN + 2 && y[3] == INT64_MIN + 8);
    rt_cumsum(&rt, &(RtAlong){RT_I32, 1, 4, 1, true, true}, y32, x32);
    assert_true(y32[0] == -1 && y32[1] == 6 && y32[2] == 1 && y32[3] == 0);
    rt_cumsum(&rt, &(RtAlong){RT_F64, 1, 3, 1}, yd, d);
    assert_true(yd[2] == 0.1 + 0.2 + 0.3);
    rt_top_k(&rt, &(RtAlong){RT_I64, 1, 4, 1, .k = 2}, v, at, x);
    assert_true(v[0] == INT64_MAX && v[1] == 5 && at[0] == 1 && at[1] == 2);
    rt_arg_max(&rt, &(RtAlong){RT_I32, 1, 4, 1}, at, x32);
    assert_int_equal(at[0], 2);
    rt_arg_max(&rt, &(RtAlong){RT_U8, 1, 3, 1}, at, (uint8_t[]){1, 200, 127});
    assert_int_equal(at[0], 1);
    rt_delete(&rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_large_shape),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
