// Tests strided copies, fills, gather, scatter and loops over rows against plain loops, and
// two threads against one.
#include "tests/runtime/kernels.h"

static void check_copy(Random *r, RtCopy *c)
{
    int64_t *xs[RT_MAX_DIMS], *ys[RT_MAX_DIMS], count = 1, first = 0;

    for (int i = 0; i < c->rank; i++) {
        xs[i] = &c->x_stride[i];
        ys[i] = &c->y_stride[i];
        count *= c->dim[i];
    }
    int64_t nx = draw_strides(r, c->rank, c->dim, xs), ny = draw_strides(r, c->rank, c->dim, ys);
    for (int i = 0; i < c->rank; i++) {
        int64_t kind = draw(r, 8);
        if (kind == 0)
            c->x_stride[i] = 0;
        if (kind != 1 || c->dim[i] == 0)
            continue;
        first += (c->dim[i] - 1) * c->x_stride[i];  // backwards
        c->x_stride[i] = -c->x_stride[i];
    }
    size_t bytes = (size_t)c->bytes;
    char *x = malloc((size_t)(nx + 1) * bytes), *want = calloc((size_t)ny + 1, bytes);
    for (size_t i = 0; i < (size_t)nx * bytes; i++)
        x[i] = (char)draw(r, 256);
    for (int64_t k = 0; k < count; k++) {
        int64_t rest = k, from = first, to = 0;
        for (int i = c->rank - 1; i >= 0; i--) {
            from += rest % c->dim[i] * c->x_stride[i];
            to += rest % c->dim[i] * c->y_stride[i];
            rest /= c->dim[i];
        }
        memcpy(want + (size_t)to * bytes, x + (size_t)from * bytes, bytes);
    }
    for (int t = 1; t <= 2; t++) {
        Rt rt = rt_new(t, 0);
        char *y = calloc((size_t)ny + 1, bytes);
        rt_copy(&rt, c, y, x + (size_t)first * bytes);
        assert_memory_equal(y, want, (size_t)ny * bytes);
        free(y);
        rt_delete(&rt);
    }
    free(x);
    free(want);
}

static void test_copy(void **state)
{
    Random r = {1};

    for (int i = 0; i < 500; i++) {
        RtCopy c = {.bytes = 1 << draw(&r, 4), .rank = (int)draw(&r, 6)};
        for (int k = 0; k < c.rank; k++)
            c.dim[k] = draw_size(&r, c.rank > 3 ? 7 : 40);
        check_copy(&r, &c);
    }
    RtCopy large = {.bytes = 4, .rank = 2, .dim = {301, 5003}};
    check_copy(&r, &large);
    RtCopy halves = {.bytes = 2, .rank = 2, .dim = {301, 503}};
    check_copy(&r, &halves);
    RtCopy line = {.bytes = 4, .rank = 1, .dim = {100003}};
    check_copy(&r, &line);
}

static void check_transpose(Random *r, int64_t rows, int64_t columns)
{
    int64_t stride = rows + 3;
    float *x = draw_floats(r, stride * columns);

    for (int64_t i = 0; i < rows; i++) {
        float y[(RT_TRANSPOSE_ROWS + 1) * 40] = {0};
        int64_t at = i / RT_TRANSPOSE_ROWS * RT_TRANSPOSE_ROWS;

        rt_transpose_rows(y, x, stride, i, true, rows, columns);
        for (int64_t j = 0; j <= RT_TRANSPOSE_ROWS; j++)
            for (int64_t c = 0; c < columns; c++)
                assert_true(y[j * columns + c] ==
                            (j < RT_TRANSPOSE_ROWS && at + j < rows ? x[c * stride + at + j] : 0));
    }
    free(x);
}

static void test_transpose(void **state)
{
    Random r = {5};

    check_transpose(&r, 16, 16);
    check_transpose(&r, 48, 32);
    check_transpose(&r, 49, 35);
    check_transpose(&r, 7, 40);
    check_transpose(&r, 33, 5);
}

static void test_fill(void **state)
{
    static const struct {
        RtType type;
        double value;
        int bytes;
        uint64_t bits;
    } cases[] = {{RT_F32, 1.5, 4, 0x3fc00000},
                 {RT_F64, -2, 8, 0xc000000000000000},
                 {RT_BF16, 1.00390625, 2, 0x3f80},
                 {RT_BF16, 1.01171875, 2, 0x3f82},
                 {RT_F16, 1, 2, 0x3c00},
                 {RT_F16, -65504, 2, 0xfbff},
                 {RT_F16, 65520, 2, 0x7c00},
                 {RT_F16, 0x1p-24, 2, 1},
                 {RT_F16, 0x1p-14, 2, 0x0400},
                 {RT_F16, 2049, 2, 0x6800},
                 {RT_I8, -1, 1, 0xff},
                 {RT_I64, -3, 8, (uint64_t)-3},
                 {RT_I32, 7, 4, 7},
                 {RT_BOOL, 2, 1, 1},
                 {RT_U64, 0x1p63, 8, (uint64_t)1 << 63},
                 {RT_F32, -INFINITY, 4, 0xff800000},
                 {RT_F16, NAN, 2, 0x7e00},
                 {RT_BF16, NAN, 2, 0x7fc0}};
    Rt rt = rt_new(2, 0);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char y[8 * 77];
        size_t bytes = (size_t)cases[i].bytes;
        memset(y, 0x55, sizeof y);
        rt_fill(&rt, cases[i].type, y, 76, cases[i].value);
        for (size_t k = 0; k < 76; k++)
            assert_memory_equal(y + k * bytes, &cases[i].bits, bytes);
        assert_int_equal(y[76 * bytes], 0x55);
    }
    rt_delete(&rt);
}

static float combined(RtReduceOp op, float a, float b)
{
    return op == RT_SUM   ? a + b
           : op == RT_MUL ? a * b
           : op == RT_MAX ? rt_maxf(a, b)
           : op == RT_MIN ? rt_minf(a, b)
                          : b;
}

// Puts rows into the table by index, or takes rows from it.
static void naive(const RtGather *p, float *table, float *rows, const int64_t *index, bool is_put)
{
    for (int64_t r = 0; r < p->batch * p->outer * p->index; r++) {
        int64_t slice = r / p->index;
        int64_t at = index[slice / p->outer * p->index + r % p->index] - p->offset;
        bool is_inside = at >= 0 && at < p->n;
        for (int64_t c = 0; c < p->inner; c++)
            if (!is_put)
                rows[r * p->inner + c] = is_inside ? table[(slice * p->n + at) * p->inner + c] : 0;
            else if (is_inside)
                table[(slice * p->n + at) * p->inner + c] = combined(
                    p->op, table[(slice * p->n + at) * p->inner + c], rows[r * p->inner + c]);
    }
}

static void check_gather(Random *r, RtGather *p)
{
    int64_t n_table = p->batch * p->outer * p->n * p->inner, n_index = p->batch * p->index;
    int64_t n_rows = p->batch * p->outer * p->index * p->inner;
    float *table = draw_floats(r, n_table), *want = malloc(sizeof(float) * (size_t)(n_rows + 1));
    float *rows = draw_floats(r, n_rows), *sum = calloc((size_t)n_table + 1, sizeof(float));
    float *onto = malloc(sizeof(float) * (size_t)(n_table + 1));
    int64_t *index = malloc(sizeof(int64_t) * (size_t)(n_index + 1));
    int32_t *index32 = malloc(sizeof(int32_t) * (size_t)(n_index + 1));

    for (int64_t i = 0; i < n_index; i++) {
        index[i] = i % 3 ? draw(r, p->whole + 4) - 2 : p->offset;  // one row is indexed often
        index32[i] = (int32_t)index[i];
    }
    naive(p, table, want, index, false);
    naive(p, sum, rows, index, true);
    memcpy(onto, table, sizeof(float) * (size_t)n_table);
    naive(p, onto, rows, index, true);
    const void *by = p->index_type == RT_I32 ? (const void *)index32 : (const void *)index;
    for (int t = 1; t <= 8; t += t < 3 ? 1 : 5) {
        Rt rt = rt_new(t, rt_scatter_workspace(p));
        float *got = draw_floats(r, n_rows), *got_sum = draw_floats(r, n_table);
        rt_gather(&rt, p, got, table, by);
        assert_memory_equal(got, want, sizeof(float) * (size_t)n_rows);
        if (p->op == RT_SUM) {
            rt_scatter(&rt, p, got_sum, rows, by, NULL);
            assert_memory_equal(got_sum, sum, sizeof(float) * (size_t)n_table);
        }
        rt_scatter(&rt, p, got_sum, rows, by, table);
        assert_memory_equal(got_sum, onto, sizeof(float) * (size_t)n_table);
        memcpy(got_sum, table, sizeof(float) * (size_t)n_table);
        rt_scatter(&rt, p, got_sum, rows, by, got_sum);
        assert_memory_equal(got_sum, onto, sizeof(float) * (size_t)n_table);
        free(got);
        free(got_sum);
        rt_delete(&rt);
    }
    free(table);
    free(want);
    free(rows);
    free(sum);
    free(onto);
    free(index);
    free(index32);
}

static void test_gather(void **state)
{
    Random r = {3};

    for (int i = 0; i < 300; i++) {
        RtGather p = {.type = RT_F32,
                      .index_type = draw(&r, 2) ? RT_I32 : RT_I64,
                      .batch = draw_size(&r, 4),
                      .outer = draw_size(&r, 4),
                      .n = draw_size(&r, 30),
                      .index = draw_size(&r, 30),
                      .inner = draw_size(&r, 50),
                      .offset = draw(&r, 3),
                      .op = (RtReduceOp)draw(&r, RT_LAST + 1)};
        p.whole = p.n + p.offset + draw(&r, 3);
        check_gather(&r, &p);
    }
    RtGather embedding = {RT_F32, RT_I64, 1, 1, 1000, 501, 130, 0, 1000};
    RtGather outer = {RT_F32, RT_I64, 3, 5, 70, 50, 140, 0, 70};
    RtGather labels = {RT_F32, RT_I64, 400, 1, 300, 1, 1, 0, 300};
    RtGather narrow = {RT_F32, RT_I32, 1, 1, 20000, 30000, 2, 0, 20000};
    RtGather single = {RT_F32, RT_I64, 1, 1, 1, 2000, 200, 0, 1};  // one row of the table takes
                                                                   // more than a thread's share
    RtGather uncached = {RT_F32, RT_I32, 1, 1, 33000, 33000, 512, 0, 33000};  // larger than caches
    check_gather(&r, &embedding);
    check_gather(&r, &outer);
    check_gather(&r, &labels);
    check_gather(&r, &narrow);
    check_gather(&r, &single);
    check_gather(&r, &uncached);
}

static void test_stream(void **state)
{
    enum { ROOM = 512 };
    char *x = malloc(ROOM), *y = aligned_alloc(64, ROOM);

    for (int i = 0; i < ROOM; i++)
        x[i] = (char)(i % 100 + 1);
    for (int at = 0; at <= 64; at += 4)
        for (int bytes = 0; bytes <= 320; bytes += 32) {
            memset(y, -1, ROOM);
            rt_stream_store(y + at, x, bytes);
            rt_stream_store(y + at + bytes, NULL, 64);
            rt_stream_fence();
            for (int i = 0; i < ROOM; i++)
                assert_int_equal(y[i], i < at || i >= at + bytes + 64 ? -1
                                       : i < at + bytes               ? x[i - at]
                                                                      : 0);
        }
    free(x);
    free(y);
}

struct count_rows {
    char *y;
};
static void count_rows(const void *operands, int64_t first, int64_t last)
{
    const struct count_rows *p = operands;

    for (int64_t i = first; i < last; i++)
        p->y[i] = (char)(p->y[i] + 3);
}

static void test_rows(void **state)
{
    for (int64_t rows = 0; rows < 20; rows++)
        for (int t = 1; t <= 5; t++) {
            char m[20] = {0};
            Rt rt = rt_new(t, 0);
            RT_ROWS(&rt, count_rows, rows, 1 << 20, .y = m);
            for (int64_t i = 0; i < 20; i++)
                assert_int_equal(m[i], i < rows ? 3 : 0);
            rt_delete(&rt);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),   cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_fill),   cmocka_unit_test(test_gather),
        cmocka_unit_test(test_stream), cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
