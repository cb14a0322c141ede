// Tests every micro-kernel of the matrix product against loops: tiles of all sizes up to the
// largest, any strides, added to existing results; whole products, also of halves; and their
// rounding errors.
#include "runtime/cpu/amx.h"
#include "runtime/cpu/amx_block.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/micro_bf16.h"
#include "runtime/cpu/tile.h"
#include "tests/runtime/halves.h"

enum { MICROS = 5 };

// Those that were compiled and that this CPU has. Those of f32 come first.
static int micros(const RtMicro *list[MICROS])
{
    const RtMicro *const all[] = {&rt_micro_rows, &rt_micro_columns, rt_micro_amx(),
                                  rt_micro_amx_bf16(), rt_micro_bf16()};
    int n = 0;

    for (int i = 0; i < MICROS; i++)
        if (all[i])
            list[n++] = all[i];
    return n;
}

// A sum of products in double, and the sum of their magnitudes.
typedef struct Sum {
    double value, size;
} Sum;

static Sum sum_of(const RtGemm *g, const float *a, const float *b, int64_t i, int64_t j)
{
    Sum s = {0};

    for (int64_t p = 0; p < g->k; p++) {
        double x = (double)a[i * g->a_m + p * g->a_k] * (double)b[p * g->b_k + j * g->b_n];
        s.value += x;
        s.size += fabs(x);
    }
    return s;
}

// Allocates extra bytes for vector loads that read past the end.
static void *room(int64_t bytes) { return aligned_alloc(64, (size_t)(bytes + 4096) / 64 * 64); }

static void tile(const RtMicro *u, const RtGemm *g, float *y, const void *a, const void *b,
                 bool is_more)
{
    int64_t k = rt_round_up(g->k, u->k_unit);
    char *rows = room(u->rows * (k + u->row_padding) * u->bytes);
    char *columns = room(u->columns * k * u->bytes);

    if (u->begin)
        u->begin();
    u->pack_rows(rows, &(RtSide){a, g->m, g->a_m, g->k, g->a_k});
    u->pack_columns(columns, &(RtSide){b, g->n, g->b_n, g->k, g->b_k});
    u->multiply(&(RtStrip){.y = y,
                           .m = g->m,
                           .n = g->n,
                           .y_m = g->y_m,
                           .y_n = g->y_n,
                           .k = g->k,
                           .part = u->part,
                           .is_more = is_more,
                           .a = rows,
                           .b = columns,
                           .prefetched = columns,
                           .a_step = u->rows * (k + u->row_padding) * u->bytes});
    if (u->end)
        u->end();
    free(rows);
    free(columns);
}

static void check_tile(Random *r, const RtMicro *u, int64_t m, int64_t n, int64_t k)
{
    RtGemm g = {.m = m, .n = n, .k = k};
    int64_t *as[] = {&g.a_m, &g.a_k}, *bs[] = {&g.b_k, &g.b_n}, *ys[] = {&g.y_m, &g.y_n};
    int64_t na = draw_strides(r, 2, (int64_t[]){m, k}, as);
    int64_t nb = draw_strides(r, 2, (int64_t[]){k, n}, bs);
    int64_t ny = draw_strides(r, 2, (int64_t[]){m, n}, ys);
    bool is_more = draw(r, 2);

    if (u == &rt_micro_rows && g.a_k != 1)
        u = &rt_micro_columns;
    Tensor a = draw_tensor(r, u->type, na), b = draw_tensor(r, u->type, nb);
    float *y = draw_floats(r, ny), *want = malloc(sizeof(float) * (size_t)(ny + 1));
    memcpy(want, y, sizeof(float) * (size_t)ny);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float *at = want + i * g.y_m + j * g.y_n;
            *at = (float)(sum_of(&g, a.value, b.value, i, j).value + (is_more ? (double)*at : 0));
        }
    tile(u, &g, y, a.data, b.data, is_more);
    check_floats("tile", y, want, ny, 1e-6 * sqrt((double)k + 1));
    tensor_free(&a);
    tensor_free(&b);
    free(y);
    free(want);
}

static void test_tiles(void **state)
{
    static const int64_t depths[] = {1, 15, 31, 32, 33, 64, 100, 128};
    const RtMicro *list[MICROS];
    Random r = {1};

    for (int l = 0, n = micros(list); l < n; l++)
        for (int64_t i = 1; i <= list[l]->rows; i++)
            for (int64_t j = 1; j <= list[l]->columns; j++)
                check_tile(&r, list[l], i, j, depths[draw(&r, 8)]);
}

// The largest error of a product's elements, relative to the sum of magnitudes.
static double error_of(RtGemm g, const Tensor *a, const Tensor *b)
{
    float *y = malloc(sizeof(float) * (size_t)(g.m * g.n));
    void *pack = room(2 * rt_gemm_slab(&g));
    double most = 0;

    rt_gemm(&g, y, a->data, b->data, pack, 1, 0);
    for (int64_t i = 0; i < g.m; i++)
        for (int64_t j = 0; j < g.n; j++) {
            Sum s = sum_of(&g, a->value, b->value, i, j);
            most = fmax(most, fabs((double)y[i * g.n + j] - s.value) / s.size);
        }
    free(y);
    free(pack);
    return most;
}

// Also tests numbers of magnitudes from 1e-15 to 1e15, and tiny numbers between others. b is
// contiguous along k or along n.
static void check_errors(Random *r, const RtMicro *u, RtType t, int again)
{
    static const int64_t size[][3] = {{70, 90, 40}, {50, 130, 700}, {300, 40, 2100}};
    const int64_t *s = size[again % 3];
    RtGemm g = {s[0], s[1], s[2], s[2], 1, s[1], 1, s[1], 1, 512, 64, u, .type = t};
    float *left = draw_floats(r, g.m * g.k);
    int most = t == RT_F16 ? 10 : 50;

    for (int64_t i = 0; again >= 3 && i < g.m * g.k; i++)
        left[i] =
            ldexpf(left[i], again < 6 ? (int)draw(r, 2 * most + 1) - most : -140 * (int)draw(r, 2));
    if (u == &rt_micro_columns) {
        g.a_m = 1;
        g.a_k = g.m;
    }
    if (again % 2) {
        g.b_k = 1;
        g.b_n = g.k;
    }
    Tensor a = tensor_of(t, left, g.m * g.k), b = draw_tensor(r, t, g.k * g.n);
    assert_true(error_of(g, &a, &b) <= 1e-6);
    tensor_free(&a);
    tensor_free(&b);
}

// All paths, which are forced: a micro-kernel of f32 widens halves while it packs them.
static void test_errors(void **state)
{
    static const RtType types[] = {RT_F32, RT_BF16, RT_F16};
    const RtMicro *list[MICROS];
    Random r = {2};

    for (int l = 0, n = micros(list); l < n; l++)
        for (int again = 0; again < 27; again++)
            if (list[l]->type == types[again / 9] || list[l]->type == RT_F32)
                check_errors(&r, list[l], types[again / 9], again % 9);
}

// A row of results is finite exactly if the row of `a` is.
static void test_not_finite(void **state)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    const RtMicro *list[MICROS];
    Random r = {3};

    for (int l = 0, n = micros(list); l < n; l++)
        for (int i = 0; i < 3; i++) {
            RtGemm g = {.m = 6, .n = 15, .k = 40, .b_k = 15, .b_n = 1, .y_m = 15, .y_n = 1};
            RtType t = list[l]->type;
            float *x = draw_floats(&r, 240), y[90];

            g.a_m = list[l] == &rt_micro_columns ? 1 : 40;
            g.a_k = list[l] == &rt_micro_columns ? 6 : 1;
            x[3 * g.a_m + 7 * g.a_k] = odd[i];
            Tensor a = tensor_of(t, x, 240), b = draw_tensor(&r, t, 600);
            tile(list[l], &g, y, a.data, b.data, false);
            for (int j = 0; j < 90; j++)
                assert_int_equal(!isfinite(y[j]), j / 15 == 3);
            tensor_free(&a);
            tensor_free(&b);
        }
}

// --check-arena needs the bits of an operand's NaN in the result, to name the buffer.
static void test_bits_of_nan(void **state)
{
    const uint32_t of_nan = 0xfffffff5;
    const RtMicro *list[MICROS];
    Random r = {4};

    for (int l = 0, n = micros(list); l < n && list[l]->type == RT_F32; l++)
        for (int i = 0; i < 2; i++) {
            RtGemm g = {.m = 6, .n = 15, .k = 40, .b_k = 15, .b_n = 1, .y_m = 15, .y_n = 1};
            float *a = draw_floats(&r, 240), *b = draw_floats(&r, 600), y[90];
            bool is_by_column = list[l] == &rt_micro_columns;

            g.a_m = is_by_column ? 1 : 40;
            g.a_k = is_by_column ? 6 : 1;
            memcpy(i == 0 ? &a[3 * g.a_m + 7 * g.a_k] : &b[7 * 15 + 3], &of_nan, sizeof of_nan);
            tile(list[l], &g, y, a, b, false);
            for (int j = 0; j < 90; j++) {
                uint32_t bits;
                memcpy(&bits, &y[j], sizeof bits);
                assert_int_equal(bits == of_nan, i == 0 ? j / 15 == 3 : j % 15 == 3);
            }
            free(a);
            free(b);
        }
}

// Packs a row, of which one number is `x`, in two blocks. Only the first has x.
static void pack_row(float x, bool is_whole)
{
    enum { N = 2 * RT_AMX_DEEP };
    uint32_t blocks[2 * RT_AMX_BLOCK];
    float a[N], room[RT_AMX_DEEP * RT_AMX_DEEP];

    for (int i = 0; i < N; i++)
        a[i] = 1 / ((float)i + 3);
    a[20] = x;
    for (int is_column = 0; is_column < 2; is_column++) {
        RtSide side = {a, 1, N, N, 1};

        (is_column ? rt_amx_pack_columns : rt_amx_pack_rows)(blocks, &side);
        assert_int_equal(rt_amx_is_whole(blocks), is_whole);
        assert_false(rt_amx_is_whole(blocks + RT_AMX_BLOCK));
        const float *got = (is_column ? rt_amx_unpack_columns : rt_amx_unpack_rows)(room, blocks);
        for (int i = 0; i < RT_AMX_DEEP; i++)
            assert_memory_equal(&got[is_column ? i * RT_AMX_DEEP : i], &a[i], sizeof *a);
    }
}

// Which numbers are split for a matrix unit, and that their parts are exact.
static void test_blocks(void **state)
{
    static const float split[] = {0, 1, -0x1.fffffep35f, 0x1.fffffep35f, 0x1p-149f, -0x1.8p-140f};
    static const float whole[] = {0x1p36f, -0x1p36f, 3.4e38f, INFINITY, -INFINITY, NAN};

    for (int i = 0; i < 6; i++) {
        pack_row(split[i], false);
        pack_row(whole[i], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_bits_of_nan),
        cmocka_unit_test(test_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
