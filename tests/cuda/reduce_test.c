// Reductions on GPUs against the CPU's: random shapes, long sums, all types.
#include "tests/cuda/both.h"
#include "tests/runtime/halves.h"

CALL_BOTH(reduce, p, o[0], o[1])

static void check(Random *r, RtReduce *p, bool is_repeated, bool has_odd)
{
    int64_t *stride[RT_MAX_DIMS], results = 1, length = 1;

    for (int i = 0; i < p->rank; i++) {
        stride[i] = &p->stride[i];
        *(p->reduced[i] ? &length : &results) *= p->dim[i];
    }
    int64_t span = draw_strides(r, p->rank, p->dim, stride);
    RtType type = is_half(p->type) && p->op == RT_SUM ? RT_F32 : p->type;  // of y
    if (is_repeated && p->rank)
        p->stride[draw(r, p->rank)] = 0;
    void *x = draw_elements(r, p->type, span, has_odd);
    void *y = draw_elements(r, type, results, false);
    bool is_rounded = p->op == RT_SUM && p->type <= RT_BF16;
    double limit = (p->type == RT_F64 ? 1e-15 : 1e-6) * (1 + sqrt((double)length));
    Operand o[] = {{y, results * rt_type_bytes(type), true, type, is_rounded ? limit : 0},
                   {x, span * rt_type_bytes(p->type), false, p->type, 0}};
    RtReduce wide = *p;
    wide.type = is_half(p->type) ? RT_F32 : p->type;
    CHECK_HALVES(reduce, &wide, p, o, 2, rt_reduce_workspace(&wide), rt_cuda_reduce_workspace(p));
    free(x);
    free(y);
}

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < 500; i++) {
        RtReduce p = {.op = (RtReduceOp)draw(&r, 3), .type = RT_F32, .rank = (int)draw(&r, 6)};
        for (int k = 0; k < p.rank; k++) {
            p.dim[k] = draw_size(&r, 12);
            p.reduced[k] = draw(&r, 2);
        }
        check(&r, &p, draw(&r, 5) == 0, p.op != RT_SUM && draw(&r, 2));
    }
}

static void test_types(void **state)
{
    Random r = {2};

    for (int i = 0; i < 200; i++) {
        RtReduce p = {.op = (RtReduceOp)draw(&r, 3), .type = (RtType)(1 + draw(&r, RT_BOOL))};
        p.rank = 3;
        for (int k = 0; k < p.rank; k++) {
            p.dim[k] = draw_size(&r, 40);
            p.reduced[k] = draw(&r, 2);
        }
        check(&r, &p, false, p.op != RT_SUM && (p.type == RT_F64 || is_half(p.type)));
    }
}

static void test_rows_of_types(void **state)
{
    Random r = {4};

    for (RtType t = RT_F32; t <= RT_BOOL; t++) {
        RtReduce p = {.op = RT_MAX, .type = t, .rank = 1, .dim = {5000}, .reduced = {true}};
        check(&r, &p, false, false);
    }
}

// Rows and columns, short and long enough for chunks, in one dim and in two that don't merge.
static void test_long(void **state)
{
    static const struct {
        int64_t dim[3];
        bool reduced[3];
    } cases[] = {
        {{1, 1, 100000}, {false, false, true}}, {{1, 3, 5000}, {false, false, true}},
        {{40, 33, 1}, {true, false, false}},    {{3000, 1, 33}, {true, false, false}},
        {{70, 3, 70}, {true, false, true}},     {{2, 3000, 5}, {false, true, false}},
        {{9, 1, 1025}, {false, false, true}},   {{9, 1, 1024}, {false, false, true}},
        {{4096, 1, 1}, {true, false, true}},    {{1, 1, 33}, {false, true, true}},
    };
    Random r = {3};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int op = 0; op < 3; op++) {
            RtReduce p = {
                .op = (RtReduceOp)op, .type = (RtType)(1 + (op + (int)i) % RT_BF16), .rank = 3};
            int64_t n = 1;
            for (int k = 2; k >= 0; k--) {
                p.dim[k] = cases[i].dim[k];
                p.reduced[k] = cases[i].reduced[k];
                p.stride[k] = n;
                n *= p.dim[k];
            }
            check(&r, &p, false, false);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_rows_of_types),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_reduce");
}
