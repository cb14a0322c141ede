// Tests the parts of collectives in one process: boxes, reductions, padding; and collectives of a
// single rank. tests/ranks/exchange.c tests several ranks.
#include "runtime/exchange/box.h"
#include "runtime/exchange/combine.h"
#include "runtime/exchange/message_collectives.h"
#include "tests/runtime/halves.h"

// ---- boxes ----

static RtBox draw_box(Random *r, int64_t *span)
{
    static const int64_t lengths[] = {1, 4, 8, 12, 100, 0};
    RtBox b = {.length = lengths[draw(r, 6)]};

    *span = b.length;
    for (int i = 2; i >= 0; i--) {
        b.dim[i] = draw_size(r, 9);
        b.stride[i] = *span + (draw(r, 3) ? 0 : 4 * draw(r, 5));
        *span = b.stride[i] * b.dim[i];
    }
    return b;
}

// Lists the offsets of a box's bytes in their order.
static int64_t list(const RtBox *b, int64_t *at)
{
    int64_t n = 0;

    for (int64_t i = 0; i < b->dim[0]; i++)
        for (int64_t j = 0; j < b->dim[1]; j++)
            for (int64_t k = 0; k < b->dim[2]; k++)
                for (int64_t l = 0; l < b->length; l++)
                    at[n++] = i * b->stride[0] + j * b->stride[1] + k * b->stride[2] + l;
    return n;
}

static void boxes(void **state)
{
    enum { ROOM = 1 << 19 };
    static int64_t at[ROOM];
    Random r = {1};
    char *x = malloc(ROOM), *row = malloc(ROOM), *y = malloc(ROOM);

    for (int i = 0; i < ROOM; i++)
        x[i] = (char)draw(&r, 256);
    for (int t = 0; t < 2000; t++) {
        int64_t span;
        RtBox b = draw_box(&r, &span);
        int64_t n = list(&b, at), first = draw(&r, n + 1), last = first + draw(&r, n + 9);
        Rt rt = {.threads = 1 + t % 2};

        assert_true(span <= ROOM && n == rt_box_bytes(&b));
        b.at = x;
        rt_box_pack(&rt, row, &b, first, last);
        b.at = memset(y, 0, (size_t)span + 1);
        rt_box_unpack(&rt, &b, first, last, row);
        for (int64_t k = 0; k < n; k++) {
            bool is_in = k >= first && k < last;
            if ((is_in && row[k - first] != x[at[k]]) || y[at[k]] != (is_in ? x[at[k]] : 0))
                fail_msg("box %d: byte %" PRId64 " of %" PRId64, t, k, n);
        }
    }
    free(x);
    free(row);
    free(y);
}

// ---- reductions ----

// Terms are added from left to right, whatever the length, the threads and the offset of the
// result. Halves are added in f32 and rounded once.
static void combine_type(RtType type)
{
    enum { N = 40000, TERMS = 5 };
    Random r = {2};
    Tensor x[TERMS];
    float *y = malloc(sizeof(float) * N);
    char *from[TERMS];

    for (int k = 0; k < TERMS; k++) {
        float *value = draw_floats(&r, N);
        value[draw(&r, N)] = NAN;
        x[k] = tensor_of(type, value, N);
        from[k] = x[k].data;
    }
    for (int t = 0; t < 60; t++) {
        RtReduceOp op = (RtReduceOp)(t % 3);
        int terms = 1 + (int)draw(&r, TERMS), into = (int)draw(&r, terms);
        int64_t n = t % 2 ? N : draw(&r, 2000);
        Rt rt = {.threads = 1 + t % 2};

        memcpy(y, x[into].data, (size_t)(N * rt_type_bytes(type)));
        from[into] = (char *)y;
        rt_combine(&rt, type, op, y, from, terms, n);
        from[into] = x[into].data;
        for (int64_t i = 0; i < n; i++) {
            float s = x[0].value[i], got = element(type, y, i);
            for (int k = 1; k < terms; k++) {
                float b = x[k].value[i];
                s = op == RT_SUM                ? s + b
                    : s != s || b != b          ? NAN
                    : (op == RT_MAX) == (s > b) ? s
                                                : b;
            }
            if (rounded(type, s) != got && !(isnan(s) && isnan(got)))
                fail_msg("op %d of %d: element %" PRId64 " is %g, not %g", op, terms, i,
                         (double)got, (double)s);
        }
    }
    for (int k = 0; k < TERMS; k++)
        tensor_free(&x[k]);
    free(y);
}

static void combines(void **state)
{
    combine_type(RT_F32);
    combine_type(RT_BF16);
    combine_type(RT_F16);
}

// ---- padding ----

static void pads(void **state)
{
    // The tensor is [3, 5, 4], with dim 1 as the outermost in memory. The shard has 2 positions of
    // dim 1. shard.
    const RtPad p = {RT_I32, RT_MAX, 3, 1, {3, 5, 4}, {4, 12, 1}};
    const RtShard shard = {6, 2}, whole = {0, 5}, none = {15, 0};
    Rt rt = {.threads = 1};
    int32_t x[60];

    for (int i = 0; i < 60; i++)
        x[i] = i;
    rt_pad(&rt, &p, &whole, x);
    for (int i = 0; i < 60; i++)
        assert_int_equal(x[i], i);
    rt_pad(&rt, &p, &shard, x);
    for (int i = 0; i < 60; i++)
        assert_int_equal(x[i], i < 24 ? i : INT32_MIN);
    rt_pad(&rt, &(RtPad){RT_I32, RT_SUM, 3, 1, {3, 5, 4}, {4, 12, 1}}, &none, x);
    for (int i = 0; i < 60; i++)
        assert_int_equal(x[i], 0);
    for (RtType t = RT_F16; t <= RT_BF16; t++) {
        rt_pad(&rt, &(RtPad){t, RT_MAX, 3, 1, {3, 5, 4}, {4, 12, 1}}, &shard, x);
        for (int i = 0; i < 60; i++)
            assert_true(element(t, x, i) == (i < 24 ? 0 : -INFINITY));
        rt_pad(&rt, &(RtPad){t, RT_SUM, 3, 1, {3, 5, 4}, {4, 12, 1}}, &none, x);
    }
}

// Reducing a number with the identity gives that number. Each NaN of f16 becomes the same one.
static void identities(void **state)
{
    static const RtType types[] = {RT_I8,  RT_I16, RT_I32, RT_I64, RT_U8,   RT_U16,
                                   RT_U32, RT_U64, RT_F32, RT_F64, RT_BF16, RT_F16};
    Rt rt = {.threads = 1};

    for (int i = 0; i < 12; i++)
        for (RtReduceOp op = RT_SUM; op <= RT_MIN; op++)
            for (int v = 0; v < 256; v++) {
                uint64_t x = 0, y = 0, identity = 0;
                memset(&x, v, (size_t)rt_type_bytes(types[i]));
                if (types[i] == RT_F16 && (v & 0x7f) >= 0x7c)
                    continue;
                char *from[] = {(char *)&x, (char *)&identity};
                rt_fill(&rt, rt_plain(types[i]), &identity, 1, rt_identity(types[i], op));
                rt_combine(&rt, types[i], op, &y, from, 2, 1);
                assert_memory_equal(&x, &y, sizeof x);
            }
}

// ---- a single rank ----

static void alone(void **state)
{
    typedef void Collective(Rt * rt, const RtExchange *p, void *y, const void *x);
    static Collective *const all[] = {rt_all_gather,     rt_all_reduce, rt_all_to_all, rt_keep_one,
                                      rt_reduce_scatter, rt_shard,      rt_permute};
    const RtExchange p = {RT_F32, .outer = 2, .whole = 5, .middle = 1, .joined = 1, .inner = 3};
    Rt rt = {.threads = 1, .collectives = &rt_message_collectives};
    float x[30], y[30];

    for (int i = 0; i < 30; i++)
        x[i] = (float)i;
    for (int i = 0; i < 7; i++) {
        memset(y, 0, sizeof y);
        all[i](&rt, &p, y, x);
        assert_memory_equal(x, y, sizeof x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes),      cmocka_unit_test(combines), cmocka_unit_test(pads),
        cmocka_unit_test(identities), cmocka_unit_test(alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
