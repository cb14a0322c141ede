// Products that --tune times: which algorithms they get, what is written, and what it leaves.
#include <limits.h>

#include "runtime/core/core.h"
#include "runtime/cuda/matmul.h"
#include "runtime/rt_tune.h"
#include "tests/cuda/both.h"

extern __typeof__(rt_dot_init) cuda_dot_init;

#define PRODUCT(type_, result_, m_, n_, k_)                                                        \
    {                                                                                              \
        .type = type_, .result = result_, .m = m_, .n = n_, .k = k_, .a_m = k_, .a_k = 1,          \
        .b_k = n_, .b_n = 1, .y_m = n_, .y_n = 1                                                   \
    }
// The last product is the first one again.
enum { DISTINCT = 4, KERNELS = DISTINCT + 1 };
static const RtDot products[KERNELS] = {
    PRODUCT(RT_F32, RT_NONE, 4, 6, 8), PRODUCT(RT_F64, RT_NONE, 4, 6, 8),
    PRODUCT(RT_BF16, RT_F32, 4, 6, 8), PRODUCT(RT_F16, RT_F16, 4, 6, 8),
    PRODUCT(RT_F32, RT_NONE, 4, 6, 8)};
static const char *const texts[DISTINCT] = {
    "f32 1: 6x8/6+0 8x4/8+0 = 6x4/6+0 in 768", "f64 1: 6x8/6+0 8x4/8+0 = 6x4/6+0 in 1536",
    "bf16 to f32 1: 6x8/6+0 8x4/8+0 = 6x4/6+0 in 768", "f16 1: 6x8/6+0 8x4/8+0 = 6x4/6+0 in 768"};

static const RtModel model = {.name = "tuned",
                              .device = &rt_cuda,
                              .arena_bytes = 4096,
                              .kernels = "image",
                              .n_kernels = KERNELS};

typedef struct Machine {
    Rt rt;
    RtModel model;
    void *kernel[KERNELS];
} Machine;

// A program of all products, whose arena has so many bytes.
static void start(Machine *m, bool tunes, bool is_lazy, int64_t bytes)
{
    *m = (Machine){.rt = {.device = &rt_cuda, .gpu.tunes = tunes}, .model = model};
    m->model.arena_bytes = bytes;
    m->rt.kernel = m->kernel;
    cudart_order(0, is_lazy);
    assert_true(rt_cuda.open(&m->rt, &m->model) && rt_cuda.allocate(&m->rt, &m->model));
    for (int i = 0; i < KERNELS; i++)
        cuda_dot_init(&m->rt, i, &products[i]);
    assert_true(rt_cuda.tune(&m->rt, &m->model));
}

static void end(Machine *m)
{
    rt_cuda.close(&m->rt, &m->model);
    assert_int_equal(cudart_objects(), 0);
}

static void read_file(RtTune *t)
{
    char path[PATH_MAX];
    RtFileError e;

    assert_true(rt_path_of(&model, ".tune", path, sizeof path));
    assert_true(rt_tune_read(t, path, &e));
}

static void remove_file(void)
{
    char path[PATH_MAX];

    assert_true(rt_path_of(&model, ".tune", path, sizeof path));
    remove(path);
}

// Checks that the file has these algorithms for the product in f64, and for the others.
static void check_file(int others, int in_f64)
{
    RtTune t;

    read_file(&t);
    assert_string_equal(t.gpu, "tests' GPU, sm_90, 132 multiprocessors");
    assert_int_equal(t.library, 130000);
    assert_int_equal(t.n, DISTINCT);
    for (int i = 0; i < DISTINCT; i++)
        assert_int_equal(rt_tune_find(&t, texts[i])->algorithm, i == 1 ? in_f64 : others);
    rt_tune_free(&t);
}

// Checks whether all products have an algorithm for aligned operands, and the same one where they
// are equal. Others get theirs at a call.
static void check_choices(const Machine *m, bool is_made)
{
    const RtMatmul *last = rt_cuda_of(&m->rt)->matmul, *first = last;

    for (const RtMatmul *q = last; q; q = q->next) {
        first = q;
        assert_int_equal(q->choice[RT_ALIGNED].is_made, is_made);
        assert_false(q->choice[RT_UNALIGNED].is_made);
    }
    assert_memory_equal(&first->choice[RT_ALIGNED], &last->choice[RT_ALIGNED],
                        sizeof(RtMatmulChoice));
}

// Products are tried with each algorithm that can compute them: once, and five times more.
enum { TRIED = 3, TRIES = DISTINCT * TRIED * 6 };

static void test_fastest(void **state)
{
    static const char *const fastest[] = {"0", "1", "4"};
    char found[4096], zeros[4096] = {0};

    for (int i = 0; i < 3; i++) {
        Machine m;
        setenv("CUBLASLT_FASTEST", fastest[i], 1);
        long before = cudart_matmuls();
        start(&m, true, i & 1, sizeof found);
        assert_int_equal(cudart_matmuls() - before, TRIES);
        check_choices(&m, true);
        rt_cuda.copy_out(&m.rt, found, 0, sizeof found);
        assert_memory_equal(found, zeros, sizeof found);
        end(&m);
        check_file(atoi(fastest[i]), atoi(fastest[i]));
    }
    unsetenv("CUBLASLT_FASTEST");
    remove_file();
}

static void test_later_runs(void **state)
{
    Machine m;

    start(&m, false, false, 4096);
    check_choices(&m, false);
    end(&m);
    setenv("CUBLASLT_FASTEST", "4", 1);
    start(&m, true, false, 4096);
    RtLtAlgorithm tuned = rt_cuda_of(&m.rt)->matmul->choice[RT_ALIGNED].algorithm;
    end(&m);
    unsetenv("CUBLASLT_FASTEST");
    start(&m, false, false, 4096);
    check_choices(&m, true);
    assert_memory_equal(&rt_cuda_of(&m.rt)->matmul->choice[RT_ALIGNED].algorithm, &tuned,
                        sizeof tuned);
    end(&m);
    remove_file();
}

// A file of this machine may still have algorithms that cuBLASLt doesn't offer.
static void test_unknown_algorithms(void **state)
{
    char path[PATH_MAX];
    RtFileError e;
    RtTune t;
    Machine m;

    start(&m, true, false, 4096);
    end(&m);
    read_file(&t);
    for (int i = 0; i < DISTINCT; i++)
        t.product[i].algorithm = RT_TUNE_ALGORITHMS - 1;
    assert_true(rt_path_of(&model, ".tune", path, sizeof path));
    assert_true(rt_tune_write(&t, path, &e));
    rt_tune_free(&t);
    start(&m, false, false, 4096);
    check_choices(&m, false);
    end(&m);
    remove_file();
}

// Where the arena is too small for a product's operands, its first algorithm is kept, untimed. Both
// factors at one address are enough: 256 + 1536 + 384 bytes in f64.
static void test_small_arenas(void **state)
{
    enum { ENOUGH = 256 + 1536 + 384 };
    Machine m;

    setenv("CUBLASLT_FASTEST", "1", 1);
    long before = cudart_matmuls();
    start(&m, true, false, 256);
    assert_int_equal(cudart_matmuls(), before);
    end(&m);
    check_file(0, 0);
    start(&m, true, false, ENOUGH - 1);
    end(&m);
    check_file(1, 0);
    start(&m, true, false, ENOUGH);
    end(&m);
    check_file(1, 1);
    unsetenv("CUBLASLT_FASTEST");
    remove_file();
}

static void test_no_algorithm(void **state)
{
    RtTune t;
    Machine m;

    setenv("CUBLASLT_NONE", "1", 1);
    start(&m, true, false, 4096);
    check_choices(&m, false);
    end(&m);
    unsetenv("CUBLASLT_NONE");
    read_file(&t);
    assert_int_equal(t.n, 0);
    rt_tune_free(&t);
    remove_file();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fastest), cmocka_unit_test(test_later_runs),
        cmocka_unit_test(test_unknown_algorithms), cmocka_unit_test(test_small_arenas),
        cmocka_unit_test(test_no_algorithm)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
