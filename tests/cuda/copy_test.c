// Copies, fills and padding on GPUs against the CPU's.
#include "tests/cuda/both.h"

CALL_BOTH(copy, p, o[0], o[1])

static void check_copy(Random *r, RtCopy *c, bool is_repeated)
{
    int64_t *x[RT_MAX_DIMS], *y[RT_MAX_DIMS];

    for (int i = 0; i < c->rank; i++) {
        x[i] = &c->x_stride[i];
        y[i] = &c->y_stride[i];
    }
    int64_t x_span = draw_strides(r, c->rank, c->dim, x);
    int64_t y_span = draw_strides(r, c->rank, c->dim, y);
    if (is_repeated && c->rank)
        c->x_stride[draw(r, c->rank)] = 0;
    void *from = draw_elements(r, RT_I64, x_span, false);
    void *to = draw_elements(r, RT_I64, y_span, false);
    Operand o[] = {{to, y_span * c->bytes, true, RT_U8, 0}, {from, x_span * c->bytes}};
    CHECK_BOTH(copy, c, o, 2, 0, 0);
    free(from);
    free(to);
}

static void test_copies(void **state)
{
    Random r = {1};

    for (int i = 0; i < 400; i++) {
        RtCopy c = {.bytes = 1 << draw(&r, 4), .rank = (int)draw(&r, 5)};
        for (int k = 0; k < c.rank; k++)
            c.dim[k] = draw_size(&r, c.rank < 3 ? 70 : 12);
        check_copy(&r, &c, draw(&r, 4) == 0);
    }
}

// Whole vectors: dims that are multiples of 16 bytes, and rows with gaps that are or aren't.
static void test_vectors(void **state)
{
    Random r = {2};

    for (int bytes = 1; bytes <= 8; bytes *= 2)
        for (int gap = 0; gap < 18; gap++) {
            RtCopy c = {.bytes = bytes, .rank = 2, .dim = {5, 64}, .x_stride = {64 + gap, 1}};
            int64_t n = 5 * (64 + gap);
            void *x = draw_elements(&r, RT_I64, n, false),
                 *y = draw_elements(&r, RT_I64, 400, false);

            c.y_stride[0] = 64 + gap % 5 * 4;
            c.y_stride[1] = 1;
            Operand o[] = {{y, 5 * c.y_stride[0] * bytes, true, RT_U8, 0}, {x, n * bytes}};
            CHECK_BOTH(copy, &c, o, 2, 0, 0);
            free(x);
            free(y);
        }
}

// Rows in reverse, and a transpose of three dims.
static void test_reversed(void **state)
{
    Random r = {3};
    RtCopy reversed = {.bytes = 4, .rank = 2, .dim = {9, 33}};
    RtCopy moved = {.bytes = 4, .rank = 3, .dim = {3, 40, 70}};
    void *x = draw_elements(&r, RT_I64, 9000, false), *y = draw_elements(&r, RT_I64, 9000, false);

    for (int k = 0; k < 2; k++) {
        moved.x_stride[0] = moved.y_stride[0] = 2800;
        moved.x_stride[1] = 1;
        moved.x_stride[2] = 40;
        moved.y_stride[1] = 70;
        moved.y_stride[2] = 1;
        reversed.x_stride[0] = reversed.y_stride[0] = 33;
        reversed.x_stride[1] = reversed.y_stride[1] = 1;
        Operand o[] = {{y, 36000, true, RT_U8, 0}, {x, 36000}};
        CHECK_BOTH(copy, k ? &moved : &reversed, o, 2, 0, 0);
    }
    free(x);
    free(y);
}

typedef struct Fill {
    RtType type;
    int64_t count, at;
    double value;
} Fill;

extern __typeof__(rt_fill) cuda_fill;
static void cpu_fill(Rt *rt, const void *p, void **o)
{
    const Fill *f = p;

    rt_fill(rt, f->type, (char *)o[0] + f->at, f->count, f->value);
}
static void gpu_fill(Rt *rt, const void *p, void **o)
{
    const Fill *f = p;

    cuda_fill(rt, f->type, (char *)o[0] + f->at, f->count, f->value);
}

static void test_fills(void **state)
{
    static const double values[] = {0, 1, -2.5, 1e30, -1e30, 65520, 1e-7, INFINITY, -INFINITY};
    Random r = {4};

    for (int i = 0; i < 400; i++) {
        Fill f = {.type = (RtType)(1 + draw(&r, RT_BOOL)),
                  .count = draw_size(&r, 3000),
                  .value = values[draw(&r, 9)]};
        f.at = draw(&r, 5) * rt_type_bytes(f.type);
        int64_t bytes = f.count * rt_type_bytes(f.type) + f.at + draw(&r, 40);
        void *y = draw_elements(&r, RT_I64, bytes / 8 + 1, false);
        Operand o[] = {{y, bytes, true, RT_U8, 0}};
        CHECK_BOTH(fill, &f, o, 1, 0, 0);
        free(y);
    }
}

static RtShard shard;
CALL_BOTH(pad, p, &shard, o[0])

static void test_padding(void **state)
{
    Random r = {5};

    for (int i = 0; i < 300; i++) {
        RtPad p = {.type = (RtType)(1 + draw(&r, RT_BOOL)),
                   .op = (RtReduceOp)draw(&r, 3),
                   .rank = 1 + (int)draw(&r, 4)};
        int64_t *stride[RT_MAX_DIMS];
        for (int k = 0; k < p.rank; k++) {
            p.size[k] = 1 + draw(&r, 14);
            stride[k] = &p.stride[k];
        }
        p.dim = (int)draw(&r, p.rank);
        shard.extent = draw(&r, p.size[p.dim] + 1);
        int64_t span = draw_strides(&r, p.rank, p.size, stride);
        void *x = draw_elements(&r, RT_I64, span, false);
        Operand o[] = {{x, span * rt_type_bytes(p.type), true, RT_U8, 0}};
        CHECK_BOTH(pad, &p, o, 1, 0, 0);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),   cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_reversed), cmocka_unit_test(test_fills),
        cmocka_unit_test(test_padding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_copy") +
           cudart_count_unlaunched("rt_cuda_put") + cudart_count_unlaunched("rt_cuda_transpose");
}
