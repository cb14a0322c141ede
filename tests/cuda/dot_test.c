// Products on GPUs against the CPU's, of halves against those in f32: random shapes, strides and
// batches, long sums of few results, all by our own kernel, and those that it takes by cuBLASLt's
// double. matmul_test.c has a table of which these are.
#include "tests/cuda/both.h"

#include "runtime/rt_cuda_matmul.h"

enum { ORDERS = 3 };  // in which check_both computes

CALL_BOTH_PREPARED(dot)

// Draws strides for one operand. A batch dim that it lacks has stride 0.
static int64_t operand(Random *r, RtDot *p, int64_t d0, int64_t d1, int64_t *s0, int64_t *s1,
                       int64_t *batch, bool may_lack)
{
    int64_t dim[RT_MAX_BATCH + 2], *stride[RT_MAX_BATCH + 2];
    int n = 0;

    for (int i = 0; i < p->n_batch; i++) {
        batch[i] = 0;
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

// How many products cuBLASLt's double doesn't take, and how many it takes.
static int runs[2];

static void check(Random *r, RtDot *p)
{
    int64_t na = operand(r, p, p->m, p->k, &p->a_m, &p->a_k, p->a_batch, true);
    int64_t nb = operand(r, p, p->k, p->n, &p->b_k, &p->b_n, p->b_batch, true);
    int64_t ny = operand(r, p, p->m, p->n, &p->y_m, &p->y_n, p->y_batch, false);
    RtType t = p->type, result = rt_dot_result(p);
    int64_t width = rt_type_bytes(t);
    void *a = draw_elements(r, p->type, na, false), *b = draw_elements(r, p->type, nb, false);
    void *y = draw_elements(r, result, ny, false);
    double limit = (t == RT_F64 ? 1e-15 : 1e-6) * sqrt((double)p->k + 1);
    Operand o[] = {{y, ny * rt_type_bytes(result), true, result, limit},
                   {a, na * width, false, t, 0},
                   {b, nb * width, false, t, 0}};
    RtDot wide = *p;
    int64_t bytes;
    RtCudaMatmul plan;
    bool is_matmul = rt_cuda_matmul_plan(p, &plan);
    long before = cudart_matmuls();

    wide.type = t == RT_F64 ? t : RT_F32;
    wide.result = RT_NONE;
    bytes = rt_dot_workspace(&wide, 1);
    CHECK_HALVES(dot, &wide, p, o, 3, bytes, rt_cuda_dot_workspace(p));
    assert_int_equal(cudart_matmuls() - before, is_matmul ? ORDERS : 0);
    if (is_matmul) {
        setenv("CUBLASLT_NONE", "1", 1);
        CHECK_HALVES(dot, &wide, p, o, 3, bytes, rt_cuda_dot_workspace(p));
        unsetenv("CUBLASLT_NONE");
        assert_int_equal(cudart_matmuls() - before, ORDERS);
    }
    runs[is_matmul]++;
    free(a);
    free(b);
    free(y);
}

// The types of operands and result.
static const struct {
    RtType type, result;
} types[] = {{RT_F32, RT_NONE}, {RT_BF16, RT_NONE}, {RT_F32, RT_F32}, {RT_F16, RT_F32},
             {RT_BF16, RT_F32}, {RT_F64, RT_NONE},  {RT_F16, RT_F16}};
enum { TYPES = sizeof types / sizeof *types };

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < 70; i++) {
        RtDot p = {.m = draw_size(&r, 70),
                   .n = draw_size(&r, 70),
                   .k = draw_size(&r, 60),
                   .n_batch = (int)draw(&r, 4),
                   .type = types[i % TYPES].type,
                   .result = types[i % TYPES].result};
        for (int j = 0; j < p.n_batch; j++)
            p.batch[j] = draw_size(&r, 3);
        check(&r, &p);
    }
    assert_true(runs[false] > 10 && runs[true] > 10);
}

static void test_long_sums(void **state)
{
    Random r = {2};

    for (int i = 0; i < 2 * TYPES; i++) {
        RtDot p = {.m = 1 + draw(&r, 20),
                   .n = 1 + draw(&r, 20),
                   .k = 500 + draw(&r, 1200),
                   .n_batch = (int)draw(&r, 2),
                   .batch = {2},
                   .type = types[i % TYPES].type,
                   .result = types[i % TYPES].result};
        check(&r, &p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_shapes),
                                       cmocka_unit_test(test_long_sums)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_dot");
}
