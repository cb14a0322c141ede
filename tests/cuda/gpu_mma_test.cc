// Tests of the doubles of tensor cores' instructions: products of fragments are those of plain
// loops, for both types of halves, and copies to shared memory show who doesn't wait for them.
#include "tests/cuda/gpu_mma.h"

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <cmocka.h>
}

#include "runtime/cuda/mma.cuh"

enum { N = 16, WORDS = N / 2, LANES = 32 };

static const unsigned orders[] = {gpu::RISING, gpu::FALLING, gpu::SHUFFLED, 77};

// Mistakes of the kernel below.
enum { NONE, NO_WAIT, LAST_GROUP, NO_BARRIER, OVERWRITES, MISALIGNED_COPY, MISALIGNED_MATRIX };

// y = a b, or a bᵀ where it `is_by_rows`, of 16 x 16 numbers.
template <class T>
static __device__ void multiply(float *y, const T *a, const T *b, bool is_by_rows, int mistake)
{
    __shared__ __align__(16) Shared<uint32_t[2][N][WORDS]> tile;
    const int lane = (int)threadIdx.x, row = lane % N, word = lane / N * 4;
    const int copied = N - 1 - row;  // another lane's row
    uint32_t left[4], right[4];
    float sum[2][4] = {};

    rt_copy_begin(tile[0][copied], word, a + copied * N + 2 * word + (mistake == MISALIGNED_COPY),
                  16);
    rt_copy_group();
    rt_copy_begin(tile[1][copied], word, b + copied * N + 2 * word, 16);
    rt_copy_group();
    if (mistake == LAST_GROUP)
        rt_copy_wait<1>();
    else if (mistake != NO_WAIT)
        rt_copy_wait<0>();
    if (mistake != NO_BARRIER)
        __syncwarp();
    rt_load_matrices<false>(left, tile[0][row], word + (mistake == MISALIGNED_MATRIX));
    if (is_by_rows)
        rt_load_matrices<false>(right, tile[1][lane / 16 * 8 + lane % 8], lane / 8 % 2 * 4);
    else
        rt_load_matrices<true>(right, tile[1][row], word);
    if (mistake == OVERWRITES)
        rt_copy_begin(tile[0][(row + 1) % N], word, a, 16);
    for (int n = 0; n < 2; n++) {
        rt_mma(T(), sum[n], left, right[2 * n], right[2 * n + 1]);
        for (int i = 0; i < 4; i++)
            y[(lane / 4 + i / 2 * 8) * N + 8 * n + lane % 4 * 2 + i % 2] = sum[n][i];
    }
}

#define MULTIPLY(T, name)                                                                          \
    static __global__ void name(float *y, const T *a, const T *b, bool is_by_rows, int mistake)    \
    {                                                                                              \
        multiply(y, a, b, is_by_rows, mistake);                                                    \
    }                                                                                              \
    RT_ENTRY(name);
MULTIPLY(RtBf16, multiply_bf16)
MULTIPLY(RtF16, multiply_f16)

// Whole numbers, so that sums are exact. A copy of 16 bytes may begin after the first one.
template <class T> struct Matrix {
    alignas(16) T x[N * N + N];

    explicit Matrix(int seed)
    {
        for (int i = 0; i < N * N + N; i++)
            rt_put(x[i], (float)((i * i + seed * i) % 23 - 11));
    }
};

template <class T>
static void run(const char *name, unsigned order, bool is_by_rows, int mistake, float *y)
{
    const Matrix<T> a(3), b(5);
    const T *x[] = {a.x, b.x};
    void *args[] = {&y, &x[0], &x[1], &is_by_rows, &mistake};

    gpu::launch(*gpu::find(name), {1, 1, 1}, {LANES, 1, 1}, 0, args, order);
}

template <class T> static void check(const char *name)
{
    const Matrix<T> a(3), b(5);

    for (unsigned order : orders)
        for (bool is_by_rows : {false, true}) {
            float y[N * N];
            run<T>(name, order, is_by_rows, NONE, y);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    float want = 0;
                    for (int k = 0; k < N; k++)
                        want += rt_value(a.x[i * N + k]) *
                                rt_value(b.x[is_by_rows ? j * N + k : k * N + j]);
                    assert_true(y[i * N + j] == want);
                }
        }
}

static void test_products(void **)
{
    check<RtBf16>("multiply_bf16");
    check<RtF16>("multiply_f16");
}

// Words that weren't waited for are no numbers.
static void test_waits(void **)
{
    for (int mistake : {NO_WAIT, LAST_GROUP})
        for (unsigned order : orders) {
            float y[N * N];
            run<RtF16>("multiply_f16", order, false, mistake, y);
            for (float x : y)
                assert_true(x != x);
        }
}

static void test_faults(void **)
{
    static const struct {
        int mistake;
        const char *says;
    } faults[] = {{NO_BARRIER, "shared memory is read before it is written"},
                  {OVERWRITES, "race: shared memory is written while thread"},
                  {MISALIGNED_COPY, "misaligned: a copy of 16 bytes to shared memory"},
                  {MISALIGNED_MATRIX, "misaligned: a row of a matrix in shared memory"}};

    for (const auto &f : faults) {
        char text[1024] = "";
        float y[N * N];
        int pipes[2], status;

        assert_return_code(pipe(pipes), 0);
        fflush(nullptr);
        pid_t pid = fork();
        if (pid == 0) {
            dup2(pipes[1], 2);
            run<RtBf16>("multiply_bf16", gpu::RISING, false, f.mistake, y);
            _exit(0);
        }
        close(pipes[1]);
        for (ssize_t n, at = 0; (n = read(pipes[0], text + at, sizeof text - 1 - (size_t)at)) > 0;)
            at += n;
        close(pipes[0]);
        waitpid(pid, &status, 0);
        if (!strstr(text, f.says))
            fail_msg("'%s' isn't in '%s'", f.says, text);
    }
}

static void test_numbers(void **)
{
    const float a = 1 + 0x1p-8f, b = -3;  // a: a tie in bf16

    assert_int_equal(rt_pack(RtBf16(), a, b), 0xc0403f80);
    assert_int_equal(rt_pack(RtF16(), a, b), 0xc2003c04);
    assert_true(rt_exp2(3) == 8 && rt_exp2(-INFINITY) == 0 && rt_exp2(-126.5f) == 0);
    assert_true(rt_larger(a, b) == a && rt_larger(b, a) == a);
    assert_true(isnan(rt_larger(NAN, a)) && isnan(rt_larger(a, NAN)));
}

int main()
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_waits), cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_numbers)};

    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
