// Tests rt_sums, sums down columns, against double; two threads must give the bits of one.
#include <math.h>

#include "tests/runtime/kernels.h"

// Adds rows to two sums: of the elements and of their squares.
typedef struct AddRows {
    const float *x;
    int64_t width;
} AddRows;

static void add_rows(const void *operands, int64_t first, int64_t last, float *s)
{
    const AddRows *p = operands;
    const int64_t width = p->width;

    for (int64_t r = first; r < last; r++) {
        const float *x = p->x + r * width;
        for (int64_t i = 0; i < width; i++) {
            s[i] += x[i];
            s[width + i] += x[i] * x[i];
        }
    }
}

static const struct {
    int64_t outer, rows, width;
} cases[] = {
    {1, 1, 1},      {1, 7, 3},     {3, 5, 17}, {1, 40000, 64}, {2, 9001, 40}, {70, 49, 96},
    {1, 333, 2048}, {5, 4096, 16}, {1, 0, 16}, {0, 3, 8},      {1, 1, 5000},  {9, 100000, 8},
};

static void check(const RtSums *q, const float *x, float *const *y, int threads)
{
    Rt rt = rt_new(threads, rt_sums_workspace(q, threads));

    rt_sums(&rt, add_rows, &(AddRows){x, q->width}, q, y);
    rt_delete(&rt);
}

static void naive(const RtSums *q, const float *x, double *sum, double *squares)
{
    for (int64_t i = 0; i < q->outer * q->width; i++)
        sum[i] = squares[i] = 0;
    for (int64_t r = 0; r < q->outer * q->rows; r++)
        for (int64_t i = 0; i < q->width; i++) {
            double v = (double)x[r * q->width + i];
            sum[r / q->rows * q->width + i] += v;
            squares[r / q->rows * q->width + i] += v * v;
        }
}

static void test_sizes(void **state)
{
    Random r = {1};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        RtSums q = {cases[k].outer, cases[k].rows, cases[k].width, .n = 2};
        q.work = 4;
        int64_t count = q.outer * q.width;
        size_t bytes = sizeof(float) * (size_t)count;
        float *x = draw_floats(&r, q.outer * q.rows * q.width);
        float *y[4];
        double *want[2];
        for (int i = 0; i < 4; i++)
            y[i] = malloc(bytes + 1);
        for (int i = 0; i < 2; i++)
            want[i] = malloc(2 * bytes + 1);
        check(&q, x, y, 1);
        check(&q, x, y + 2, 2);
        naive(&q, x, want[0], want[1]);
        for (int64_t i = 0; i < count; i++) {
            assert_true(fabs((double)y[0][i] - want[0][i]) <= 2e-6 * (1 + sqrt((double)q.rows)));
            assert_true(fabs((double)y[1][i] - want[1][i]) <= 1e-6 * (1 + want[1][i]));
        }
        assert_memory_equal(y[0], y[2], bytes);
        assert_memory_equal(y[1], y[3], bytes);
        for (int i = 0; i < 4; i++)
            free(y[i]);
        free(want[0]);
        free(want[1]);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
