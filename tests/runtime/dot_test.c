// Tests rt_dot against three nested loops: random shapes and strides, all layouts of the operands,
// batch dims that can and cannot be folded, f32 and halves. Two and five threads must give the bits
// of one. A half result must be the f32 result, rounded once.
#include "tests/runtime/halves.h"
#include "tests/sanitized.h"

static int64_t batches(const RtDot *p)
{
    int64_t n = 1;

    for (int i = 0; i < p->n_batch; i++)
        n *= p->batch[i];
    return n;
}

// The offset of batch entry `b`, given an operand's batch strides.
static int64_t start(const RtDot *p, int64_t b, const int64_t *stride)
{
    int64_t at = 0;

    for (int i = p->n_batch - 1; i >= 0; i--) {
        at += b % p->batch[i] * stride[i];
        b /= p->batch[i];
    }
    return at;
}

static void naive(const RtDot *p, float *y, const float *a, const float *b)
{
    for (int64_t e = 0; e < batches(p); e++) {
        const float *ae = a + start(p, e, p->a_batch), *be = b + start(p, e, p->b_batch);
        float *ye = y + start(p, e, p->y_batch);
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++) {
                double s = 0;
                for (int64_t k = 0; k < p->k; k++)
                    s += (double)ae[i * p->a_m + k * p->a_k] * (double)be[k * p->b_k + j * p->b_n];
                ye[i * p->y_m + j * p->y_n] = (float)s;
            }
    }
}

// Draws strides for one operand. A batch dim that it lacks has stride 0.
static int64_t operand(Random *r, RtDot *p, int64_t d0, int64_t d1, int64_t *s0, int64_t *s1,
                       int64_t *batch, bool may_lack)
{
    int64_t dim[RT_MAX_BATCH + 2], *stride[RT_MAX_BATCH + 2];
    int n = 0;

    for (int i = 0; i < p->n_batch; i++) {
        if (may_lack && draw(r, 3) == 0)
            continue;
        dim[n] = p->batch[i];
        stride[n++] = &batch[i];
    }
    dim[n] = d0;
    stride[n++] = s0;
    dim[n] = d1;
    stride[n++] = s1;
    return draw_strides(r, n, dim, stride);
}

static void check(Random *r, RtDot *p)
{
    static const int threads[] = {1, 2, 5};
    int64_t na = operand(r, p, p->m, p->k, &p->a_m, &p->a_k, p->a_batch, true);
    int64_t nb = operand(r, p, p->k, p->n, &p->b_k, &p->b_n, p->b_batch, true);
    int64_t ny = operand(r, p, p->m, p->n, &p->y_m, &p->y_n, p->y_batch, false);
    RtType result = rt_dot_result(p);
    Tensor a = draw_tensor(r, p->type, na), b = draw_tensor(r, p->type, nb);
    Tensor want = draw_tensor(r, result, ny);
    size_t bytes = (size_t)(ny * rt_type_bytes(result));
    void *y[3];

    for (int t = 0; t < 3; t++) {
        Rt rt = rt_new(threads[t], rt_dot_workspace(p, threads[t]));
        y[t] = malloc(bytes + 1);
        memcpy(y[t], want.data, bytes);
        rt_dot_init(&rt, 1, p);
        rt_dot(&rt, 1, y[t], a.data, b.data);
        rt_delete(&rt);
    }
    naive(p, want.value, a.value, b.value);
    check_tensor("dot", result, y[0], want.value, ny, 1e-6 * sqrt((double)p->k + 1));
    for (int t = 1; t < 3; t++)
        assert_memory_equal(y[0], y[t], bytes);
    tensor_free(&a);
    tensor_free(&b);
    tensor_free(&want);
    for (int t = 0; t < 3; t++)
        free(y[t]);
}

// The types of operands and result.
static const struct {
    RtType type, result;
} types[] = {{RT_F32, RT_NONE}, {RT_BF16, RT_NONE}, {RT_F32, RT_F32},
             {RT_BF16, RT_F32}, {RT_F16, RT_F16},   {RT_F16, RT_F32}};

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < (IS_SANITIZED ? 150 : 600); i++) {
        RtDot p = {.m = draw_size(&r, 70),
                   .n = draw_size(&r, 70),
                   .k = draw_size(&r, 90),
                   .type = types[i % 6].type,
                   .result = types[i % 6].result};
        p.n_batch = (int)draw(&r, 4);
        for (int j = 0; j < p.n_batch; j++)
            p.batch[j] = draw_size(&r, 4);
        check(&r, &p);
    }
}

static void test_large_shapes(void **state)
{
    static const int64_t size[][4] = {{1, 130, 300, 700},  {1, 25, 2500, 260}, {1, 2100, 33, 513},
                                      {1, 1, 5000, 300},   {1, 5000, 1, 300},  {1, 3, 3, 20000},
                                      {40, 40, 40, 40},    {3, 200, 100, 257}, {1, 257, 2049, 1},
                                      {1, 1, 1, 100003},   {7, 1, 300, 64},    {1, 70, 1100, 2100},
                                      {2, 60, 1100, 1030}, {1, 30, 4700, 40}};
    Random r = {2};

    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int again = 0; again < (IS_SANITIZED ? 1 : 3); again++) {
            RtDot p = {.m = size[i][1],
                       .n = size[i][2],
                       .k = size[i][3],
                       .type = types[((int)i + again) % 6].type,
                       .result = types[((int)i + again) % 6].result};
            p.n_batch = 1;
            p.batch[0] = size[i][0];
            check(&r, &p);
        }
}

// The product of dense operands with so many threads; the caller frees it.
static void *product(const RtDot *p, const Tensor *a, const Tensor *b, int threads)
{
    int64_t n = p->batch[0] * p->m * p->n;
    void *y = malloc((size_t)(n * rt_type_bytes(rt_dot_result(p))));
    Rt rt = rt_new(threads, rt_dot_workspace(p, threads));

    rt_dot_init(&rt, 1, p);
    rt_dot(&rt, 1, y, a->data, b->data);
    rt_delete(&rt);
    return y;
}

static void check_rounded(RtType t, RtDot p, int threads)
{
    Random r = {3};
    Tensor a = draw_tensor(&r, t, p.batch[0] * p.m * p.k);
    Tensor b = draw_tensor(&r, t, p.batch[0] * p.k * p.n);

    p.n_batch = 1;
    p.type = t;
    p.a_batch[0] = p.m * p.k;
    p.b_batch[0] = p.k * p.n;
    p.y_batch[0] = p.m * p.n;
    p.a_m = p.k;
    p.b_k = p.y_m = p.n;
    p.a_k = p.b_n = p.y_n = 1;
    void *half = product(&p, &a, &b, threads);
    p.result = RT_F32;
    float *single = product(&p, &a, &b, 1);
    for (int64_t i = 0; i < p.batch[0] * p.m * p.n; i++)
        if (element(t, half, i) != rounded(t, single[i]))
            fail_msg("%s, %d threads: element %" PRId64 " is %.9g, not %.9g", type_name(t), threads,
                     i, (double)element(t, half, i), (double)single[i]);
    tensor_free(&a);
    tensor_free(&b);
    free(half);
    free(single);
}

// Products whose sums are too many to be kept together, and small ones, of one product and of
// several: k in one slab and in more, columns of a thread's own.
static void test_rounded_once(void **state)
{
    static const int64_t size[][4] = {
        {1, 2500, 900, 300}, {1, 2300, 1000, 1030}, {1, 900, 2600, 1030}, {1, 1500, 2600, 300},
        {5, 500, 1030, 100}, {5, 300, 1030, 520},   {1, 40, 50, 3000},    {1, 3000, 1, 1300}};

    for (size_t i = IS_SANITIZED ? 4 : 0; i < sizeof size / sizeof *size; i++)
        for (int threads = 1; threads <= 3; threads++)
            check_rounded(
                i % 2 ? RT_F16 : RT_BF16,
                (RtDot){.batch = {size[i][0]}, .m = size[i][1], .n = size[i][2], .k = size[i][3]},
                threads);
}

// A row of results is finite exactly if the row of `a` is: by a matrix and by a vector.
static void test_not_finite(void **state)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    enum { M = 40, K = 70 };
    Random r = {4};

    for (int i = 0; i < 6 * 3 * 2; i++) {
        RtType t = types[i % 6].type, result = types[i % 6].result;
        RtDot p = {.m = M, .n = i < 18 ? 50 : 1, .k = K, .batch = {1}, .type = t, .result = result};
        float *x = draw_floats(&r, M * K);

        x[3 * K + 7] = odd[i / 6 % 3];
        p.a_m = K;
        p.b_k = p.y_m = p.n;
        p.a_k = p.b_n = p.y_n = 1;
        Tensor a = tensor_of(t, x, M * K), b = draw_tensor(&r, t, K * p.n);
        void *y = product(&p, &a, &b, 1);
        for (int64_t j = 0; j < M * p.n; j++)
            assert_int_equal(!isfinite(element(rt_dot_result(&p), y, j)), j / p.n == 3);
        tensor_free(&a);
        tensor_free(&b);
        free(y);
    }
}

static void test_double(void **state)
{
    RtDot p = {.m = 2,
               .n = 2,
               .k = 3,
               .a_m = 3,
               .a_k = 1,
               .b_k = 2,
               .b_n = 1,
               .y_m = 1,
               .y_n = 2,
               .type = RT_F64};
    double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 2, 3, 4, 5, 6 + 1e-12}, y[4];
    Rt rt = rt_new(1, rt_dot_workspace(&p, 1));

    rt_dot_init(&rt, 0, &p);
    rt_dot(&rt, 0, y, a, b);
    assert_true(y[0] == 22 && y[1] == 49 && y[2] == 28 + 3e-12 && y[3] == 64 + 6e-12);
    rt_delete(&rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes), cmocka_unit_test(test_large_shapes),
        cmocka_unit_test(test_rounded_once),  cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_double),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
