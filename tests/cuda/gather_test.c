// Gather and scatter on GPUs against the CPU's.
#include "tests/cuda/both.h"

CALL_BOTH(gather, p, o[0], o[1], o[2])
CALL_BOTH(scatter, p, o[0], o[1], o[2], o[3])
// The table may be the one that is added onto.
static void cpu_put_in_place(Rt *rt, const void *p, void **o)
{
    rt_scatter(rt, p, o[0], o[1], o[2], o[0]);
}
static void gpu_put_in_place(Rt *rt, const void *p, void **o)
{
    cuda_scatter(rt, p, o[0], o[1], o[2], o[0]);
}

static RtGather draw_gather(Random *r)
{
    RtGather p = {.type = (RtType)(1 + draw(r, RT_BOOL)),
                  .index_type = draw(r, 2) ? RT_I32 : RT_I64,
                  .batch = 1 + draw(r, 3),
                  .outer = 1 + draw(r, 3),
                  .n = draw_size(r, 12),
                  .index = draw_size(r, 40),
                  .inner = draw_size(r, 40)};

    if (draw(r, 8) == 0)
        p.index = 200 + draw(r, 200);
    p.offset = draw(r, 3) ? 0 : draw(r, 5);
    p.whole = p.offset + p.n + draw(r, 3);
    return p;
}

// An index some of whose elements lie outside of the table, also by 2^32, and one row that is often
// chosen, or always.
static void *draw_index(Random *r, const RtGather *p)
{
    int64_t n = p->batch * p->index, most = p->whole + 2, often = draw(r, most);
    bool is_always = draw(r, 8) == 0;
    void *index = draw_elements(r, RT_I64, n, false);

    for (int64_t i = 0; i < n; i++) {
        int64_t x = draw(r, 4) && !is_always ? draw(r, most) - 1 : often;
        if (p->index_type == RT_I32)
            ((int32_t *)index)[i] = (int32_t)x;
        else
            ((int64_t *)index)[i] = draw(r, 16) ? x : x + (INT64_C(1) << 32);
    }
    return index;
}

static void test_gather(void **state)
{
    Random r = {1};

    for (int i = 0; i < 300; i++) {
        RtGather p = draw_gather(&r);
        int64_t width = rt_type_bytes(p.type), slices = p.batch * p.outer;
        int64_t rows = slices * p.index * p.inner, all = slices * p.n * p.inner;
        void *y = draw_elements(&r, RT_I64, rows, false);
        void *table = draw_elements(&r, RT_I64, all, false), *index = draw_index(&r, &p);
        Operand o[] = {{y, rows * width, true, RT_U8, 0},
                       {table, all * width},
                       {index, p.batch * p.index * rt_type_bytes(p.index_type)}};
        CHECK_BOTH(gather, &p, o, 3, 0, 0);
        free(y);
        free(table);
        free(index);
    }
}

static void test_scatter(void **state)
{
    Random r = {2};

    for (int i = 0; i < 150; i++) {
        RtGather p = draw_gather(&r);
        if (p.type == RT_F16 || p.type == RT_BF16)
            p.type = RT_F32;
        int64_t width = rt_type_bytes(p.type), slices = p.batch * p.outer;
        int64_t rows = slices * p.index * p.inner, all = slices * p.n * p.inner;
        p.op = (RtReduceOp)draw(&r, RT_LAST + 1);
        bool is_sum = p.op == RT_SUM || p.op == RT_MUL;
        bool is_rounded = is_sum && (p.type == RT_F32 || p.type == RT_F64);
        double limit = is_rounded ? (p.type == RT_F32 ? 1e-6 : 1e-15) * (double)(1 + p.index) : 0;
        void *table = draw_elements(&r, p.type, all, false), *index = draw_index(&r, &p);
        void *x = draw_elements(&r, p.type, rows, false);
        void *onto = draw_elements(&r, p.type, all, false);
        Operand o[] = {{table, all * width, true, p.type, limit},
                       {x, rows * width},
                       {index, p.batch * p.index * rt_type_bytes(p.index_type)},
                       {draw(&r, 2) || p.op != RT_SUM ? onto : NULL, all * width}};
        int64_t cpu = rt_scatter_workspace(&p), gpu = rt_cuda_scatter_workspace(&p);
        CHECK_BOTH(scatter, &p, o, 4, cpu, gpu);
        CHECK_BOTH(put_in_place, &p, o, 3, cpu, gpu);
        free(table);
        free(index);
        free(x);
        free(onto);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gather),
                                       cmocka_unit_test(test_scatter)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_gather") +
           cudart_count_unlaunched("rt_cuda_scatter");
}
