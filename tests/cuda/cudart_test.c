// Tests of the double of CUDA's runtime: work is carried out in the order that streams, events and
// graphs ask for, as soon or as late as they allow, and misuse ends with its message.
#include "tests/cuda/both.h"

enum { N = 100 };

typedef struct Machine {
    cudaStream_t a, b;
    cudaEvent_t event;
    char *x, *y, *host;  // device, device, pinned
} Machine;

static Machine machine_new(bool is_lazy)
{
    Machine m;

    cudart_order(0, is_lazy);
    assert_int_equal(cudaStreamCreateWithFlags(&m.a, cudaStreamNonBlocking), 0);
    assert_int_equal(cudaStreamCreateWithFlags(&m.b, cudaStreamNonBlocking), 0);
    assert_int_equal(cudaEventCreate(&m.event), 0);
    assert_int_equal(cudaMalloc((void **)&m.x, N), 0);
    assert_int_equal(cudaMalloc((void **)&m.y, N), 0);
    assert_int_equal(cudaMallocHost((void **)&m.host, N), 0);
    memset(m.host, 0, N);
    return m;
}

static void machine_end(Machine *m)
{
    cudaDeviceSynchronize();
    cudaStreamDestroy(m->a);
    cudaStreamDestroy(m->b);
    cudaEventDestroy(m->event);
    cudaFree(m->x);
    cudaFree(m->y);
    cudaFreeHost(m->host);
    assert_int_equal(cudart_objects(), 0);
}

// Stream a fills x, and b copies it out after the event, if it waits.
static char copied_byte(bool is_lazy, bool waits)
{
    Machine m = machine_new(is_lazy);

    cudaMemsetAsync(m.x, 7, N, m.a);
    cudaEventRecord(m.event, m.a);
    if (waits)
        cudaStreamWaitEvent(m.b, m.event, 0);
    cudaMemcpyAsync(m.host, m.x, N, cudaMemcpyDeviceToHost, m.b);
    if (is_lazy)
        assert_int_equal(m.host[0], 0);
    assert_int_equal(cudaStreamSynchronize(m.b), 0);
    char byte = m.host[N - 1];
    machine_end(&m);
    return byte;
}

static void test_order(void **state)
{
    assert_int_equal(copied_byte(false, true), 7);
    assert_int_equal(copied_byte(true, true), 7);
    assert_int_not_equal(copied_byte(true, false), 7);
}

// A captured fork: b copies x to y concurrently with a. Without the join the capture fails; without
// the fork's wait a lazy device copies too soon.
static void test_graph(void **state)
{
    for (int lazy = 0; lazy < 2; lazy++) {
        Machine m = machine_new(lazy);
        cudaGraph_t graph;
        cudaGraphExec_t exec;

        assert_int_equal(cudaStreamBeginCapture(m.a, cudaStreamCaptureModeGlobal), 0);
        cudaMemsetAsync(m.x, 3, N, m.a);
        assert_int_equal(cudaStreamSynchronize(m.a), cudaErrorStreamCaptureUnsupported);
        cudaEventRecord(m.event, m.a);
        cudaStreamWaitEvent(m.b, m.event, 0);
        cudaMemcpyAsync(m.y, m.x, N, cudaMemcpyDeviceToDevice, m.b);
        cudaEventRecord(m.event, m.b);
        cudaStreamWaitEvent(m.a, m.event, 0);
        cudaMemcpyAsync(m.host, m.y, N, cudaMemcpyDeviceToHost, m.a);
        assert_int_equal(cudaStreamEndCapture(m.a, &graph), 0);
        assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
        cudaGraphDestroy(graph);
        assert_int_equal(m.host[0], 0);
        for (int again = 0; again < 2; again++) {
            memset(m.host, 0, N);
            assert_int_equal(cudaGraphLaunch(exec, m.a), 0);
            cudaStreamSynchronize(m.a);
            assert_int_equal(m.host[N - 1], 3);
        }
        cudaGraphExecDestroy(exec);
        machine_end(&m);
    }
}

static void test_unjoined(void **state)
{
    Machine m = machine_new(true);
    cudaGraph_t graph;

    cudaStreamBeginCapture(m.a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(m.event, m.a);
    cudaStreamWaitEvent(m.b, m.event, 0);
    cudaMemsetAsync(m.x, 1, N, m.b);
    assert_int_equal(cudaStreamEndCapture(m.a, &graph), cudaErrorStreamCaptureUnjoined);
    assert_int_equal(cudaStreamEndCapture(m.a, &graph), cudaErrorStreamCaptureUnmatched);
    machine_end(&m);
}

static void test_errors(void **state)
{
    RtCuda c = {0};
    cudaKernel_t kernel;
    cudaEvent_t untimed;
    float ms;
    void *p;
    int n;

    cudart_machine(0, 0);
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorNoDevice);
    cudart_machine(2, 1000);
    assert_int_equal(cudaSetDevice(1), 0);
    assert_int_equal(cudaSetDevice(2), cudaErrorInvalidDevice);
    assert_int_equal(cudaMalloc(&p, 1001), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(&p, 1000), 0);
    assert_int_equal(cudaFree((char *)p + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(p), 0);
    assert_int_equal(cudaFree(p), cudaErrorInvalidValue);
    cudart_machine(1, (size_t)1 << 30);
    assert_int_equal(rt_cuda_load(&c, NULL), cudaErrorInvalidValue);
    assert_int_equal(rt_cuda_load(&c, "image"), 0);
    assert_int_equal(cudaLibraryGetKernel(&kernel, c.library, "none"), cudaErrorSymbolNotFound);
    assert_int_equal(cudaGetLastError(), cudaErrorSymbolNotFound);
    assert_int_equal(cudaGetLastError(), 0);
    rt_cuda_unload(&c);
    Machine m = machine_new(true);
    assert_int_equal(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), 0);
    cudaEventRecord(untimed, m.a);
    cudaEventRecord(m.event, m.a);
    assert_int_equal(cudaEventQuery(m.event), cudaErrorNotReady);
    assert_int_equal(cudaEventElapsedTime(&ms, m.event, m.event), cudaErrorNotReady);
    cudaEventSynchronize(m.event);
    assert_int_equal(cudaEventElapsedTime(&ms, m.event, m.event), 0);
    assert_int_equal(cudaEventElapsedTime(&ms, untimed, m.event), cudaErrorInvalidResourceHandle);
    cudaEventDestroy(untimed);
    machine_end(&m);
}

// ---- misuse ----

static void touch_device(Machine *m) { m->x[3] = 1; }
static void read_device(Machine *m) { m->host[0] = m->x[0]; }
static void touch_freed(Machine *m)
{
    cudaFree(m->x);
    m->x[0] = 1;
}
static void copy_freed(Machine *m)
{
    cudaMemcpyAsync(m->x, m->y, N, cudaMemcpyDeviceToDevice, m->a);
    cudaFree(m->x);
    cudaStreamSynchronize(m->a);
}
static void copy_too_much(Machine *m)
{
    cudaMemcpyAsync(m->x, m->y + 1, N, cudaMemcpyDeviceToDevice, m->a);
}
static void fill_too_much(Machine *m) { cudaMemsetAsync(m->x, 0, N + 1, m->a); }
static void copy_onto_itself(Machine *m)
{
    cudaMemcpyAsync(m->x, m->x + 10, 20, cudaMemcpyDeviceToDevice, m->a);
}
static void copy_unpinned(Machine *m)
{
    char host[N];

    cudaMemcpyAsync(host, m->x, N, cudaMemcpyDeviceToHost, m->a);
}
static void copy_in_wrong_direction(Machine *m)
{
    cudaMemcpyAsync(m->host, m->x, N, cudaMemcpyHostToDevice, m->a);
}
static void use_default_stream(Machine *m) { cudaMemsetAsync(m->x, 0, N, NULL); }
static void use_destroyed(Machine *m)
{
    cudaStreamDestroy(m->b);
    cudaMemsetAsync(m->x, 0, N, m->b);
}
static void destroy_busy(Machine *m)
{
    cudaMemsetAsync(m->x, 0, N, m->a);
    cudaStreamDestroy(m->a);
}
static void launch_nothing(Machine *m)
{
    RtCuda c = {.stream = m->a};
    Rt rt = {.state = &c};

    rt_cuda_load(&c, "image");
    rt_cuda_launch(&rt, "rt_cuda_nothing", (RtCudaGrid){1, 1, 1}, 32, NULL);
}
// Too many blocks along a dim, whose index has 32 or 16 bits.
static void launch_blocks(Machine *m, int64_t x, int64_t y, int64_t z)
{
    RtCuda c = {.stream = m->a};
    Rt rt = {.state = &c};
    RtCudaCopy p = {.count = 0};

    rt_cuda_load(&c, "image");
    rt_cuda_launch(&rt, "rt_cuda_copy_1", (RtCudaGrid){x, y, z}, 32,
                   RT_CUDA_ARGS(&p, &m->y, &m->x));
}
static void launch_wide(Machine *m) { launch_blocks(m, (int64_t)1 << 32, 1, 1); }
static void launch_high(Machine *m) { launch_blocks(m, 1, 1 << 16, 1); }
static void launch_deep(Machine *m) { launch_blocks(m, 1, 1, 1 << 16); }
// A copy of more bytes than y has, by a kernel: after y, and after its pages.
static void launch_copy(Machine *m, int64_t count)
{
    RtCuda c = {.stream = m->a};
    Rt rt = {.state = &c};
    RtCudaCopy p = {.dims = {.n = 1, .dim = {count}, .x = {0}, .y = {1}}, .count = count};

    cudaMemsetAsync(m->x, 0, N, m->a);
    rt_cuda_load(&c, "image");
    rt_cuda_launch(&rt, "rt_cuda_copy_1", (RtCudaGrid){1 + count / 1024, 1, 1}, 256,
                   RT_CUDA_ARGS(&p, &m->y, &m->x));
    cudaStreamSynchronize(m->a);
}
static void write_behind(Machine *m) { launch_copy(m, N + 1); }
static void write_far_behind(Machine *m) { launch_copy(m, 9000); }

static void launch_faulty(Machine *m, int how)
{
    RtCuda c = {.stream = m->a};
    Rt rt = {.state = &c};
    float *y;

    cudaMalloc((void **)&y, 64 * sizeof *y);
    rt_cuda_load(&c, "image");
    rt_cuda_launch(&rt, "faulty", (RtCudaGrid){2, 1, 1}, 32, RT_CUDA_ARGS(&y, &how));
    cudaStreamSynchronize(m->a);
    cudaFree(y);
    rt_cuda_unload(&c);
}
#ifdef GPU_IS_WATCHED
static void race_of_blocks(Machine *m) { launch_faulty(m, 0); }
static void race_of_threads(Machine *m) { launch_faulty(m, 1); }
#endif
static void write_one_behind(Machine *m) { launch_faulty(m, 3); }

// A launch with the barrier that the faulty ones lack.
static void test_no_race(void **state)
{
    Machine m = machine_new(true);

    launch_faulty(&m, 2);
    launch_faulty(&m, 2);
    machine_end(&m);
}

static const struct {
    void (*f)(Machine *m);
    const char *says;
} misuses[] = {
    {touch_device, "host code touches device memory"},
    {read_device, "host code touches device memory"},
    {touch_freed, "memory is used after its free"},
    {copy_freed, "memory is used after its free"},
    {copy_too_much, "a copy's source: bytes 1 to 101 of an allocation of 100 bytes"},
    {fill_too_much, "a fill: bytes 0 to 101 of an allocation of 100 bytes"},
    {copy_onto_itself, "a copy's source and destination overlap"},
    {copy_unpinned, "the destination of an asynchronous copy isn't pinned"},
    {copy_in_wrong_direction, "the destination is no device memory"},
    {use_default_stream, "cudaMemsetAsync: the default stream"},
    {use_destroyed, "cudaMemsetAsync: the object has been destroyed"},
    {destroy_busy, "cudaStreamDestroy: nobody has waited for the stream's work"},
    {launch_wide, "error: rt_cuda_copy_1: "},
    {launch_high, "error: rt_cuda_copy_1: "},
    {launch_deep, "error: rt_cuda_copy_1: "},
    {launch_nothing, "error: rt_cuda_nothing: named symbol not found"},
#ifdef GPU_IS_WATCHED
    {race_of_blocks, "race: device memory is"},
    {race_of_threads, "race: device memory is"},
    {write_one_behind, "faulty, block (1, 0, 0), thread (31, 0, 0): writes 4 bytes at byte 256"},
    {write_behind,
     "rt_cuda_copy_1, block (0, 0, 0), thread (100, 0, 0): writes 1 bytes at byte 100"},
#else
    {write_one_behind, "(address "},
    {write_behind, "byte 100 of an allocation of 100 bytes was written"},
#endif
    {write_far_behind, "rt_cuda_copy_1, block ("},
};

static void run_misuse(const void *i)
{
    Machine m = machine_new(true);

    misuses[*(const size_t *)i].f(&m);
}

static void test_misuse(void **state)
{
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++)
        check_failure(run_misuse, &i, misuses[i].says);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_graph),
        cmocka_unit_test(test_unjoined), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_misuse),   cmocka_unit_test(test_no_race),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
