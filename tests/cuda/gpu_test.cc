// Tests of the tests' GPU: correct kernels give the same in all orders of blocks and threads, and
// each thing that CUDA leaves undefined ends with its message.
#include "tests/cuda/gpu.h"

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include <cmocka.h>
}

static const unsigned orders[] = {gpu::RISING, gpu::FALLING, gpu::SHUFFLED, 77, 12345};

template <class... P>
static void launch(const char *name, unsigned blocks, unsigned threads, size_t shared,
                   unsigned order, P... p)
{
    void *args[] = {&p..., nullptr};
    gpu::Entry *e = gpu::find(name);

    assert_non_null(e);
    gpu::launch(*e, {blocks, 1, 1}, {threads, 1, 1}, shared, args, order);
}

// ---- correct kernels ----

// y[i] = Σ over the block of x, by shuffles and shared memory; n is no multiple of the block.
static __global__ void sum_of_block(float *y, const float *x, int n)
{
    __shared__ Shared<float[32]> part;
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), warp = (int)threadIdx.x / 32;
    float s = i < n ? x[i] : 0;

    for (int k = 16; k; k /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, k);
    if (threadIdx.x % 32 == 0)
        part[warp] = s;
    __syncthreads();
    s = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        s += part[w];
    if (i < n)
        y[i] = s;
}
RT_ENTRY(sum_of_block);

static void test_sum(void **)
{
    enum { N = 1000, BLOCK = 128 };
    std::vector<float> x(N), y(N);

    for (int i = 0; i < N; i++)
        x[(size_t)i] = (float)(i % 17);
    for (unsigned order : orders) {
        launch("sum_of_block", (N + BLOCK - 1) / BLOCK, BLOCK, 0, order, y.data(),
               (const float *)x.data(), (int)N);
        for (int i = 0; i < N; i++) {
            float want = 0;
            for (int k = i / BLOCK * BLOCK; k < N && k < i / BLOCK * BLOCK + BLOCK; k++)
                want += x[(size_t)k];
            assert_true(y[(size_t)i] == want);
        }
    }
}

// Each half of a warp reverses its own words, with a mask of its own, then the warp's ballot.
static __global__ void halves(unsigned *y)
{
    unsigned lane = threadIdx.x % 32, half = lane / 16, mask = half ? 0xffff0000u : 0xffffu;
    unsigned z = __shfl_sync(mask, lane, (int)(half * 16 + 15 - lane % 16));

    if (half)
        z += __shfl_up_sync(mask, 100u, 0) + __shfl_down_sync(mask, 0u, 0);
    z += 1000 * (__ballot_sync(0xffffffffu, lane == 5) >> 5 & 1);
    y[threadIdx.x] = z;
}
RT_ENTRY(halves);

static void test_halves(void **)
{
    unsigned y[64];

    for (unsigned order : orders) {
        launch("halves", 1, 64, 0, order, (unsigned *)y);
        for (unsigned i = 0; i < 64; i++)
            assert_int_equal(y[i], i % 32 < 16 ? 1015 - i % 32 : 1100 + 47 - i % 32);
    }
}

// A transpose through shared memory of two dims, twice, with __syncwarp inside of a warp, and
// dynamic shared memory.
static __global__ void transposes(float4 *y, const float *x)
{
    __shared__ __align__(16) Shared<float[8][8]> tile;
    auto room = rt_room<float>();
    int i = (int)threadIdx.x;

    for (int k = 0; k < 2; k++) {
        tile[(i + 32 * k) % 8][(i + 32 * k) / 8] = x[i + 32 * k];
        room[i + 32 * k] = (float)k;
    }
    __syncwarp();
    if (i < 16) {
        float4 v = rt_load4(tile[i / 2], i % 2 * 4);
        v.x += room[63];
        rt_store(y, i, v);
    }
}
RT_ENTRY(transposes);

static void test_transposes(void **)
{
    alignas(16) float x[64], y[64];

    for (int i = 0; i < 64; i++)
        x[i] = (float)i;
    for (unsigned order : orders) {
        launch("transposes", 3, 32, 64 * sizeof(float), order, (float4 *)y, (const float *)x);
        for (int i = 0; i < 64; i++)
            assert_true(y[i] == (float)(i % 8 * 8 + i / 8 + (i % 4 == 0)));
    }
}

// Threads write the order in which they run.
static __global__ void say_order(int *at, int *next)
{
    at[blockIdx.x * blockDim.x + threadIdx.x] = (*next)++;
}
RT_ENTRY(say_order);

static void test_orders(void **)
{
    int at[100], next = 0, moved = 0;

    launch("say_order", 10, 10, 0, gpu::RISING, (int *)at, &next);
    for (int i = 0; i < 100; i++)
        assert_int_equal(at[i], i);
    next = 0;
    launch("say_order", 10, 10, 0, gpu::FALLING, (int *)at, &next);
    for (int i = 0; i < 100; i++)
        assert_int_equal(at[i], 99 - i);
    next = 0;
    launch("say_order", 10, 10, 0, 5u, (int *)at, &next);
    for (int i = 0; i < 100; i++)
        moved += at[i] != i && at[i] != 99 - i;
    assert_true(moved > 80);
}

// ---- broken kernels ----

enum Fault {
    READ_RACE,
    WRITE_RACE,
    READ_THEN_WRITE,
    WARP_RACE,
    SHUFFLE_IS_NO_FENCE,
    BEFORE_WRITE,
    FROM_BLOCK_BEFORE,
    OUTSIDE,
    OUTSIDE_ROW,
    NEGATIVE,
    OUTSIDE_ROOM,
    SOME_THREADS,
    ENDED_THREADS,
    TWO_BARRIERS,
    BARRIER_AND_SHUFFLE,
    HALF_WARP,
    NOT_IN_MASK,
    READS_OUTSIDE_MASK,
    TWO_MASKS,
    ALL_LANES,
    MISALIGNED_LOAD,
    MISALIGNED_STORE,
    MISALIGNED_SHARED,
    DEEP
};

static __device__ float use_stack(int depth)
{
    volatile float room[256];

    room[depth % 256] = (float)depth;
    return depth ? use_stack(depth - 1) + room[depth % 256] : room[0];
}

static __device__ void use_shared(int fault, int i, float *y)
{
    __shared__ Shared<float[64]> row;
    __shared__ Shared<float[8][8]> tile;
    auto room = rt_room<float>();
    bool again = blockIdx.x > 0;

    if (fault == READ_RACE || fault == SHUFFLE_IS_NO_FENCE || fault == WARP_RACE)
        row[i] = y[i];
    if (fault == SHUFFLE_IS_NO_FENCE)
        y[i] = __shfl_xor_sync(0xffffffffu, y[i], 1);
    if (fault == READ_RACE)
        y[i] = row[(i + 32) % 64];
    if (fault == SHUFFLE_IS_NO_FENCE || fault == WARP_RACE)
        y[i] = row[i ^ 1];
    if (fault == WRITE_RACE)
        row[i / 2] = 1;
    if (fault == READ_THEN_WRITE) {
        row[i] = 1;
        __syncthreads();
        float x = row[(i + 1) % 64];
        row[i] = x;
    }
    if (fault == BEFORE_WRITE || (fault == FROM_BLOCK_BEFORE && again))
        y[i] = row[i];
    if (fault == FROM_BLOCK_BEFORE)
        row[i] = 1;
    if (fault == OUTSIDE)
        row[i + 1] = 1;
    if (fault == OUTSIDE_ROW)
        tile[i / 8][i % 8 + 1] = 1;
    if (fault == NEGATIVE)
        row[i - 1] = 1;
    if (fault == OUTSIDE_ROOM)
        room[i] = 1;
    if (fault == MISALIGNED_SHARED) {
        row[i] = 1;
        __syncthreads();
        y[i] = rt_load4(row, i % 32 + 1).x;
    }
}

static __global__ void broken(float *y, int fault)
{
    const int i = (int)threadIdx.x, lane = i % 32;

    use_shared(fault, i, y);
    if (fault == SOME_THREADS && i < 32)
        __syncthreads();
    if (fault == ENDED_THREADS) {
        if (i == 40)
            return;
        __syncthreads();
    }
    if (fault == TWO_BARRIERS) {
        if (i < 32)
            __syncthreads();
        else
            __syncthreads();
    }
    if (fault == BARRIER_AND_SHUFFLE) {
        if (lane == 7)
            __syncthreads();
        else
            y[i] = __shfl_xor_sync(0xffffffffu, y[i], 1);
    }
    if (fault == HALF_WARP && lane < 16)
        y[i] = __shfl_xor_sync(0xffffffffu, y[i], 1);
    if (fault == ALL_LANES)
        y[i] = __shfl_xor_sync(0xffffffffu, y[i], 1);
    if (fault == NOT_IN_MASK)
        y[i] = __shfl_xor_sync(0xffffu, y[i], 1);
    if (fault == READS_OUTSIDE_MASK && lane < 16)
        y[i] = __shfl_sync(0xffffu, y[i], 20);
    if (fault == TWO_MASKS)
        __syncwarp(lane < 16 ? 0xffffffffu : 0xffff0000u);
    if (fault == MISALIGNED_LOAD)
        y[i] = rt_load<float4>(y, 4 * i + 1).x;
    if (fault == MISALIGNED_STORE)
        rt_store(y, 2 * i, float4{});
    if (fault == DEEP)
        y[i] = use_stack(1000000);
}
RT_ENTRY(broken);

static const struct {
    int fault;
    const char *says;
} faults[] = {
    {READ_RACE, "race: shared memory is read while thread|before it is written"},
    {WRITE_RACE, "race: shared memory is written while thread"},
    {READ_THEN_WRITE, "race: shared memory is"},
    {WARP_RACE, "race: shared memory is read while thread|before it is written"},
    {SHUFFLE_IS_NO_FENCE, "race: shared memory is read while thread"},
    {BEFORE_WRITE, "shared memory is read before it is written"},
    {FROM_BLOCK_BEFORE, "shared memory is read before it is written"},
    {OUTSIDE, "index 64 is outside of shared memory of 64 elements"},
    {OUTSIDE_ROW, "index 8 is outside of shared memory of 8 elements"},
    {NEGATIVE, "index -1 is outside of shared memory of 64 elements"},
    {OUTSIDE_ROOM, "is outside of shared memory of 40 elements"},
    {SOME_THREADS, "has ended without coming here|a barrier that"},
    {ENDED_THREADS, "thread 40 has ended without coming here|a barrier that 1 of 64 threads don't"},
    {TWO_BARRIERS, "threads meet at different lines: others at "},
    {BARRIER_AND_SHUFFLE, "waits at "},
    {HALF_WARP, "has ended without coming here"},
    {NOT_IN_MASK, "the lane isn't in its mask 0000ffff"},
    {READS_OUTSIDE_MASK, "lane 20 is read, which isn't in the mask 0000ffff"},
    {TWO_MASKS, "without coming here|waits at"},
    {MISALIGNED_LOAD, "misaligned: a load of 16 bytes"},
    {MISALIGNED_STORE, "misaligned: a store of 16 bytes"},
    {MISALIGNED_SHARED, "misaligned: a load of 16 bytes from shared memory"},
};

// Runs `f` in a process of its own; returns its message if it fails.
template <class F> static std::string message_of(F f)
{
    int pipes[2], status;
    char text[2048];
    std::string said;

    assert_return_code(pipe(pipes), 0);
    fflush(nullptr);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], 2);
        f();
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t n; (n = read(pipes[0], text, sizeof text)) > 0;)
        said.append(text, (size_t)n);
    close(pipes[0]);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), said.empty() ? 0 : 1);
    return said;
}

// Does the text have one of these, divided by '|'?
static bool has_one(const std::string &said, std::string wanted)
{
    for (size_t at; (at = wanted.find('|')) != std::string::npos; wanted = wanted.substr(at + 1))
        if (said.find(wanted.substr(0, at)) != std::string::npos)
            return true;
    return said.find(wanted) != std::string::npos;
}

static void assert_says(const std::string &said, const char *wanted)
{
    if (!has_one(said, wanted))
        fail_msg("'%s' isn't in '%s'", wanted, said.c_str());
}

static void test_faults(void **)
{
    alignas(16) static float y[512];

    for (const auto &f : faults)
        for (unsigned order : orders) {
            std::string said = message_of(
                [&] { launch("broken", 2, 64, 40 * sizeof(float), order, (float *)y, f.fault); });

            assert_says(said, f.says);
            assert_says(said, "gpu: broken, block (");
            assert_says(said, ", thread (");
            assert_says(said, "gpu_test.cc:");
        }
}

// A stack that overflows, and an address of nobody.
static void test_addresses(void **)
{
    float *nobody = (float *)(uintptr_t)4096, y[512];
    auto explain = [](const void *p) { return p == (void *)4096 ? "it is nobody's" : nullptr; };

    assert_says(message_of([&] {
                    gpu::watch_faults(explain);
                    launch("broken", 1, 64, 0, 0, (float *)y, (int)DEEP);
                }),
                "broken, block (0, 0, 0), thread (0, 0, 0): the thread's stack is too small");
    assert_says(message_of([&] {
                    gpu::watch_faults(explain);
                    launch("broken", 1, 64, 0, 0, nobody, (int)ALL_LANES);
                }),
                "broken, block (0, 0, 0), thread (0, 0, 0): it is nobody's (address 0x1000)");
}

static void test_launches(void **)
{
    static const struct {
        unsigned blocks, threads;
        size_t shared;
        const char *says;
    } cases[] = {
        {1, 1025, 0, "broken: a block of 1025 x 1 x 1 threads: 1 to 1024 are possible"},
        {1, 0, 0, "a block of 0 x 1 x 1 threads"},
        {0, 32, 0, "a grid of 0 x 1 x 1 blocks"},
        {1, 32, 49153, "dynamic shared memory of 49153 bytes: 49152 are possible"},
        {1, 48, 0, "lane 16 of the mask ffffffff doesn't exist"},
    };

    for (const auto &c : cases) {
        float y[512];
        std::string said = message_of([&] {
            launch("broken", c.blocks, c.threads, c.shared, 0, (float *)y, (int)ALL_LANES);
        });
        assert_says(said, c.says);
    }
    assert_null(gpu::find("nothing"));
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_transposes), cmocka_unit_test(test_orders),
        cmocka_unit_test(test_faults),     cmocka_unit_test(test_launches),
        cmocka_unit_test(test_addresses),
    };

    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
