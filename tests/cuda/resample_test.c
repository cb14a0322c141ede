// Resampling on GPUs against the CPU's kernel.
#include "runtime/rt_resample.h"
#include "tests/cuda/both.h"
#include "tests/runtime/resample.h"

CALL_BOTH(resample, p, o[0], o[1])

static void check(Random *r, const RtResample *p)
{
    int64_t lines = p->outer * p->inner, width = rt_type_bytes(p->type);
    int64_t in = p->transposed ? p->size : p->n, out = p->transposed ? p->n : p->size;
    void *x = draw_elements(r, p->type, lines * in, false);
    void *y = draw_elements(r, p->type, lines * out, false);
    Operand o[] = {{y, lines * out * width, true, p->type, p->type == RT_F32 ? 1e-5 : 1e-13},
                   {x, lines * in * width}};

    CHECK_BOTH(resample, p, o, 2, rt_resample_workspace(p), rt_cuda_resample_workspace(p));
    free(x);
    free(y);
}

static void test_resample(void **state)
{
    Random r = {1};

    for (int i = 0; i < 200; i++) {
        RtResample p = draw_resample(&r, 40);
        check(&r, &p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resample)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_resample");
}
