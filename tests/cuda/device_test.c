// The GPU's device: bytes in and out in the order of calls, fills, and machines that it refuses.
#include "runtime/cuda/near_cpus.h"
#include "runtime/device.h"
#include "tests/cuda/both.h"

enum { MIB = 1 << 20, BYTES = 11 * MIB };

static const RtModel model = {
    .name = "model", .device = &rt_cuda, .arena_bytes = 2 * BYTES, .kernels = "image"};

extern __typeof__(rt_copy) cuda_copy;

static Rt opened(unsigned order, bool is_lazy)
{
    Rt rt = {.device = &rt_cuda};

    cudart_order(order, is_lazy);
    assert_true(rt_cuda.open(&rt, &model) && rt_cuda.allocate(&rt, &model));
    return rt;
}

static void close_device(Rt *rt)
{
    rt_cuda.close(rt, &model);
    assert_int_equal(cudart_objects(), 0);
}

// More than the staging memory holds, to an address that isn't aligned.
static void test_copies(void **state)
{
    char *from = malloc(BYTES), *to = malloc(BYTES);

    for (int lazy = 0; lazy < 2; lazy++) {
        Rt rt = opened(0, lazy);
        for (int64_t i = 0; i < BYTES; i++)
            from[i] = (char)(i * 7 % 251);
        rt_cuda.copy_in(&rt, 3, from, BYTES);
        memset(from, 0, BYTES);
        rt_cuda.copy_out(&rt, to, 3, BYTES);
        for (int64_t i = 0; i < BYTES; i++)
            assert_int_equal(to[i], (char)(i * 7 % 251));
        close_device(&rt);
    }
    free(from);
    free(to);
}

// Bytes of the next batch must not replace those that a kernel has yet to read.
static void test_order(void **state)
{
    const RtCopy all = {.bytes = 4, .rank = 1, .dim = {1000}, .x_stride = {1}, .y_stride = {1}};
    int32_t first[1000], second[1000], found[1000];

    for (int lazy = 0; lazy < 2; lazy++) {
        Rt rt = opened(1, lazy);
        for (int i = 0; i < 1000; i++) {
            first[i] = i;
            second[i] = -i;
        }
        rt_cuda.copy_in(&rt, 0, first, sizeof first);
        cuda_copy(&rt, &all, rt.arena + BYTES, rt.arena);
        rt_cuda.copy_in(&rt, 0, second, sizeof second);
        rt_cuda.copy_out(&rt, found, BYTES, sizeof found);
        assert_memory_equal(found, first, sizeof first);
        rt_cuda.copy_out(&rt, found, 0, sizeof found);
        assert_memory_equal(found, second, sizeof second);
        rt_cuda.synchronise(&rt);
        close_device(&rt);
    }
}

static void test_fills(void **state)
{
    static const char element[] = "abcdefgh";
    char found[1024];

    for (int64_t bytes = 1; bytes <= 8; bytes *= 2) {
        Rt rt = opened(2, false);
        int64_t count = 100, at = 8 * bytes;
        rt_cuda.fill(&rt, at, element, bytes, count);
        rt_cuda.copy_out(&rt, found, 0, sizeof found);
        for (int64_t i = 0; i < (int64_t)sizeof found; i++)
            assert_int_equal(found[i], i >= at && i < at + bytes * count ? element[i % bytes] : 0);
        close_device(&rt);
    }
}

// Work has ended after a wait for the device, so that it has times. It is more launches than the
// table of kernels has entries.
static void test_synchronise(void **state)
{
    Rt rt = opened(0, true);
    RtMark begin = {0}, end = {0};

    rt_cuda.mark(&rt, &begin);
    for (int i = 0; i < 100; i++)
        rt_cuda.fill(&rt, 0, "a", 1, 1000);
    rt_cuda.mark(&rt, &end);
    rt_cuda.synchronise(&rt);
    assert_true(rt_cuda.seconds_between(&begin, &end) >= 0);
    rt_cuda.free_mark(&begin);
    rt_cuda.free_mark(&end);
    close_device(&rt);
}

// Work that isn't finished when a program ends.
static void test_close(void **state)
{
    Rt rt = opened(0, true);

    rt_cuda.fill(&rt, 0, "a", 1, 1000);
    close_device(&rt);
}

typedef struct Refusal {
    int gpus, gpu;
    int64_t memory;
    int driver;
    const char *says;
} Refusal;

static void open_refused(const void *x)
{
    const Refusal *r = x;
    Rt rt = {.device = &rt_cuda, .gpu.number = r->gpu};

    cudart_machine(r->gpus, (size_t)r->memory);
    cudart_driver(r->driver);
    bool is_open = rt_cuda.open(&rt, &model) && rt_cuda.allocate(&rt, &model);
    close_device(&rt);
    exit(!is_open);
}

static void test_refusals(void **state)
{
    static const Refusal refusals[] = {
        {1, 0, 64 * MIB, 12090, "the driver is for CUDA 12.9, the program needs 13."},
        {0, 0, MIB, CUDART_VERSION, "there is no GPU"},
        {2, 2, 64 * MIB, CUDART_VERSION, "--device 2: this machine has 2 GPUs, from 0 on"},
        {1, 0, MIB, CUDART_VERSION,
         "the arena takes 22.0 MiB, but the GPU has 1.0 MiB free of 1.0"},
    };

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_failure(open_refused, &refusals[i], refusals[i].says);
}

static void test_cpu_lists(void **state)
{
    static const struct {
        const char *text;
        int n;  // CPUs; -1: it is no list
    } cases[] = {{"0-3,8\n", 5}, {"5", 1},
                 {"1023", 1},    {"0-1023\n", 1024},
                 {"", -1},       {"3-1", -1},
                 {"0,,1", -1},   {"1-", -1},
                 {"0-3x", -1},   {"-1", -1},
                 {"1024", -1},   {"0-1024", -1},
                 {",", -1},      {"99999999999999999999", -1}};
    cpu_set_t set;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_list = rt_cpu_list(cases[i].text, &set);
        assert_int_equal(is_list ? CPU_COUNT(&set) : -1, cases[i].n);
    }
    assert_true(rt_cpu_list("0-3,8\n", &set) && CPU_ISSET(8, &set) && !CPU_ISSET(4, &set));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),      cmocka_unit_test(test_cpu_lists),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_fills),
        cmocka_unit_test(test_synchronise), cmocka_unit_test(test_close),
        cmocka_unit_test(test_refusals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
