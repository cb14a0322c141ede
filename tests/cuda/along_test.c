// The kernels along a dim on GPUs against the CPU's: arg_max, cumsum, top_k.
#include "tests/cuda/both.h"

CALL_BOTH(arg_max, p, o[0], o[1])
CALL_BOTH(cumsum, p, o[0], o[1])
CALL_BOTH(top_k, p, o[0], o[1], o[2])

static RtAlong draw_along(Random *r)
{
    RtAlong p = {.type = (RtType)(1 + draw(r, RT_BOOL)),
                 .outer = draw_size(r, 5),
                 .n = draw_size(r, 40),
                 .inner = draw_size(r, 6),
                 .exclusive = draw(r, 2),
                 .reverse = draw(r, 2)};

    if (p.type == RT_F16 || p.type == RT_BF16)
        p.type = RT_F32;
    if (draw(r, 6) == 0) {
        p.inner = 30 + draw(r, 100);
        p.outer = 1;
    } else if (draw(r, 3) == 0) {
        p.n = 200 + draw(r, 500);
        p.inner = 1;
    }
    p.k = draw(r, (p.n < 6 ? p.n : 6) + 1);
    return p;
}

static void check(Random *r, const RtAlong *p, bool has_odd)
{
    int64_t lines = p->outer * p->inner, n = lines * p->n, width = rt_type_bytes(p->type);
    bool is_float = p->type == RT_F32 || p->type == RT_F64;
    double limit = p->type == RT_F32 ? 1e-5 : p->type == RT_F64 ? 1e-13 : 0;
    void *x = draw_elements(r, p->type, n, is_float && has_odd);
    void *y = draw_elements(r, p->type, n, false), *at = draw_elements(r, RT_I64, n + lines, false);
    Operand arg_max[] = {{at, lines * 8, true, RT_I64, 0}, {x, n * width}};
    Operand cumsum[] = {{y, n * width, true, p->type, limit}, {x, n * width}};
    Operand top_k[] = {{y, lines * p->k * width, true, p->type, 0},
                       {at, lines * p->k * 8, true, RT_I64, 0},
                       {x, n * width}};

    CHECK_BOTH(arg_max, p, arg_max, 2, 0, 0);
    if (!has_odd)
        CHECK_BOTH(cumsum, p, cumsum, 2, 0, 0);
    CHECK_BOTH(top_k, p, top_k, 3, 0, 0);
    free(x);
    free(y);
    free(at);
}

static void test_along(void **state)
{
    Random r = {1};

    for (int i = 0; i < 50; i++) {
        RtAlong p = draw_along(&r);
        check(&r, &p, false);
        check(&r, &p, true);
    }
}

static void test_rows_of_types(void **state)
{
    Random r = {2};

    for (RtType t = RT_F32; t <= RT_BOOL; t++)
        if (t != RT_F16 && t != RT_BF16)
            check(&r, &(RtAlong){.type = t, .outer = 2, .n = 300, .inner = 1, .k = 3}, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_along),
                                       cmocka_unit_test(test_rows_of_types)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_arg_max") +
           cudart_count_unlaunched("rt_cuda_cumsum") + cudart_count_unlaunched("rt_cuda_top_k");
}
