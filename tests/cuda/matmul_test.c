// Products by cuBLASLt: which ones go there and as what, and how they are called.
#include "tests/cuda/both.h"

#include "runtime/rt_cuda_matmul.h"

// ---- plans ----

static void print_matrix(char *to, size_t room, const RtCudaMatrix *m)
{
    size_t n = (size_t)snprintf(to, room, "%dx%d/%d%s", (int)m->rows, (int)m->columns,
                                (int)m->leading, m->is_transposed ? "'" : "");

    if (m->stride)
        snprintf(to + n, room - n, "+%d", (int)m->stride);
}

// "own", or sizes, leading dimensions and batch strides in cuBLASLt's order.
static void print_plan(char *to, size_t room, const RtDot *p)
{
    RtCudaMatmul plan;
    char a[64], b[64], y[64];

    snprintf(to, room, "own");
    if (!rt_cuda_matmul_plan(p, &plan))
        return;
    print_matrix(a, sizeof a, &plan.a);
    print_matrix(b, sizeof b, &plan.b);
    print_matrix(y, sizeof y, &plan.y);
    snprintf(to, room, "%s%d: %s %s = %s", plan.is_swapped ? "swapped " : "", (int)plan.batches, a,
             b, y);
}

#define SIZES(m_, n_, k_) .type = RT_F32, .m = m_, .n = n_, .k = k_
#define BATCH(...) .n_batch = sizeof(int64_t[]){__VA_ARGS__} / 8, .batch = {__VA_ARGS__}
#define A(m_, k_) .a_m = m_, .a_k = k_
#define B(k_, n_) .b_k = k_, .b_n = n_
#define Y(m_, n_) .y_m = m_, .y_n = n_

static const struct {
    RtDot p;
    const char *text;
} plans[] = {
    // Row-major operands, then transposed ones.
    {{SIZES(4, 6, 8), A(8, 1), B(6, 1), Y(6, 1)}, "swapped 1: 6x8/6 8x4/8 = 6x4/6"},
    {{SIZES(4, 6, 8), A(1, 4), B(6, 1), Y(6, 1)}, "swapped 1: 6x8/6 4x8/4' = 6x4/6"},
    {{SIZES(4, 6, 8), A(8, 1), B(1, 8), Y(6, 1)}, "swapped 1: 8x6/8' 8x4/8 = 6x4/6"},
    {{SIZES(4, 6, 8), A(8, 1), B(6, 1), Y(1, 4)}, "1: 8x4/8' 6x8/6' = 4x6/4"},
    // Parts of larger matrices.
    {{SIZES(4, 6, 8), A(20, 1), B(30, 1), Y(40, 1)}, "swapped 1: 6x8/30 8x4/20 = 6x4/40"},
    // No unit stride, a stride of 0, columns that overlap.
    {{SIZES(4, 6, 8), A(16, 2), B(6, 1), Y(6, 1)}, "own"},
    {{SIZES(4, 6, 8), A(8, 1), B(6, 1), Y(12, 2)}, "own"},
    {{SIZES(4, 6, 8), A(0, 1), B(6, 1), Y(6, 1)}, "own"},
    {{SIZES(4, 6, 8), A(7, 1), B(6, 1), Y(6, 1)}, "own"},
    // Dims of size 1, whose strides are irrelevant.
    {{SIZES(1, 6, 8), A(0, 1), B(6, 1), Y(0, 1)}, "swapped 1: 6x8/6 8x1/8 = 6x1/6"},
    {{SIZES(4, 1, 8), A(8, 1), B(1, 0), Y(1, 0)}, "1: 8x4/8' 8x1/8 = 4x1/4"},
    {{SIZES(4, 6, 1), A(1, 0), B(0, 1), Y(6, 1)}, "swapped 1: 6x1/6 4x1/4' = 6x4/6"},
    {{SIZES(1, 1, 8), A(0, 1), B(1, 0), Y(0, 0)}, "1: 8x1/8' 8x1/8 = 1x1/1"},
    {{SIZES(4, 1, 8), A(8, 1), B(3, 0), Y(1, 0)}, "1: 8x4/8' 1x8/3' = 4x1/4"},
    // Nothing to compute, and sums of nothing.
    {{SIZES(0, 6, 8), A(8, 1), B(6, 1), Y(6, 1)}, "own"},
    {{SIZES(4, 6, 0), A(1, 1), B(6, 1), Y(6, 1)}, "own"},
    // Batches: dense, in one order, and merged in either; of heads between rows; of one operand.
    {{SIZES(4, 6, 8), BATCH(5), A(8, 1), B(6, 1), Y(6, 1), .a_batch = {32}, .b_batch = {48},
      .y_batch = {24}},
     "swapped 5: 6x8/6+48 8x4/8+32 = 6x4/6+24"},
    {{SIZES(4, 6, 8), BATCH(2, 3), A(8, 1), B(6, 1), Y(6, 1), .a_batch = {96, 32},
      .b_batch = {144, 48}, .y_batch = {72, 24}},
     "swapped 6: 6x8/6+48 8x4/8+32 = 6x4/6+24"},
    {{SIZES(4, 6, 8), BATCH(3, 2), A(8, 1), B(6, 1), Y(6, 1), .a_batch = {32, 96},
      .b_batch = {48, 144}, .y_batch = {24, 72}},
     "swapped 6: 6x8/6+48 8x4/8+32 = 6x4/6+24"},
    {{SIZES(4, 6, 8), BATCH(5), A(40, 1), B(30, 1), Y(30, 1), .a_batch = {8}, .b_batch = {6},
      .y_batch = {6}},
     "swapped 5: 6x8/30+6 8x4/40+8 = 6x4/30+6"},
    {{SIZES(4, 6, 8), BATCH(2, 3), A(24, 1), B(6, 1), Y(6, 1), .a_batch = {96, 8},
      .b_batch = {144, 48}, .y_batch = {72, 24}},
     "own"},
    {{SIZES(4, 6, 8), BATCH(5), A(8, 1), B(6, 1), Y(6, 1), .a_batch = {32}, .b_batch = {0},
      .y_batch = {24}},
     "swapped 1: 6x8/6 8x20/8 = 6x20/6"},
    {{SIZES(4, 6, 8), BATCH(5), A(8, 1), B(6, 1), Y(6, 1), .a_batch = {50}, .b_batch = {0},
      .y_batch = {24}},
     "swapped 5: 6x8/6 8x4/8+50 = 6x4/6+24"},
};

static void test_plans(void **state)
{
    char text[256];

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        print_plan(text, sizeof text, &plans[i].p);
        assert_string_equal(text, plans[i].text);
    }
}

static void test_workspace(void **state)
{
    const RtDot small = plans[0].p;
    const RtDot large = {SIZES(4096, 4096, 8), A(8, 1), B(4096, 1), Y(4096, 1)};

    assert_int_equal(rt_cuda_matmul_bytes(&small), 8 * 4 * 6 * 4);
    assert_int_equal(rt_cuda_dot_workspace(&small), 8 * 4 * 6 * 4 + 192);
    assert_int_equal(rt_cuda_dot_workspace(&large), (32 << 20) + 192);
}

// ---- calls ----

CALL_BOTH_PREPARED(dot)
enum { M = 40, N = 30, K = 300 };
static const RtDot product = {SIZES(M, N, K), A(K, 1), B(N, 1), Y(N, 1)};

static void tf32_dot(Rt *rt, const void *p, void **o)
{
    rt->gpu.has_tf32 = true;
    gpu_dot(rt, p, o);
}
// Operands at a multiple of 4 bytes, after a call whose operands are at one of 256: y is moved by
// an element, and so are a and b, whose last elements it thereby ignores.
static void cpu_moved(Rt *rt, const void *p, void **o)
{
    rt_dot_init(rt, 1, p);
    rt_dot(rt, 1, o[0], o[1], o[2]);
    rt_dot(rt, 1, (float *)o[0] + 1, (float *)o[1] + 1, (float *)o[2] + 1);
}
static void gpu_moved(Rt *rt, const void *p, void **o)
{
    cuda_dot_init(rt, 1, p);
    cuda_dot(rt, 1, o[0], o[1], o[2]);
    cuda_dot(rt, 1, (float *)o[0] + 1, (float *)o[1] + 1, (float *)o[2] + 1);
}

// Returns how many calls cuBLASLt's double got in the three orders.
static long check(const char *what, Call *cpu, Call *gpu, double limit)
{
    Random r = {3};
    int64_t ny = M * N + 1, na = M * K + 1, nb = K * N + 1;
    float *y = draw_elements(&r, RT_F32, ny, false), *a = draw_elements(&r, RT_F32, na, false);
    float *b = draw_elements(&r, RT_F32, nb, false);
    Operand o[] = {{y, 4 * ny, true, RT_F32, limit}, {a, 4 * na}, {b, 4 * nb}};
    long before = cudart_matmuls();

    check_both(what, cpu, gpu, &product, &product, o, 3, rt_dot_workspace(&product, 1),
               rt_cuda_dot_workspace(&product));
    free(y);
    free(a);
    free(b);
    return cudart_matmuls() - before;
}

static void test_calls(void **state)
{
    assert_int_equal(check("cuBLASLt", cpu_dot, gpu_dot, 5e-5), 3);
    assert_int_equal(check("moved", cpu_moved, gpu_moved, 5e-5), 6);
    assert_int_equal(check("TF32", cpu_dot, tf32_dot, 5e-2), 3);
    setenv("CUBLASLT_NONE", "1", 1);
    assert_int_equal(check("no algorithm", cpu_dot, gpu_dot, 5e-5), 0);
    unsetenv("CUBLASLT_NONE");
}

// The library is opened for the first product that needs it, and closed with the others.
static void test_opening(void **state)
{
    const RtDot own = {SIZES(4, 6, 8), A(16, 2), B(6, 1), Y(6, 1)};
    RtCuda cuda = {0};
    Rt rt = {.state = &cuda};

    assert_null(rt_cuda_matmul_new(&rt, &own));
    assert_null(cuda.blas);
    assert_non_null(rt_cuda_matmul_new(&rt, &product));
    assert_non_null(cuda.blas);
    assert_non_null(rt_cuda_matmul_new(&rt, &product));
    rt_cuda_matmuls_free(&cuda);
    assert_null(cuda.blas);
    assert_int_equal(cudart_objects(), 0);
}

static void open_elsewhere(const void *folder)
{
    RtCuda cuda = {0};
    Rt rt = {.state = &cuda, .gpu = {.libraries = folder}};

    rt_cuda_matmul_new(&rt, &product);
}

static void other_version(const void *version)
{
    setenv("CUBLASLT_VERSION", version, 1);
    open_elsewhere(NULL);
}

static void test_refusals(void **state)
{
    char text[1024];

    read_failure(open_elsewhere, "/nowhere", text, sizeof text);
    assert_non_null(strstr(text, "error: cuBLASLt: /nowhere/libcublasLt.so.13: "));
    assert_non_null(strstr(text, "; --libraries names its folder\n"));
    read_failure(other_version, "120300", text, sizeof text);
    assert_string_equal(text, "error: cuBLASLt is 12.3, the program needs 13\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans),
                                       cmocka_unit_test(test_workspace),
                                       cmocka_unit_test(test_calls), cmocka_unit_test(test_opening),
                                       cmocka_unit_test(test_refusals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
