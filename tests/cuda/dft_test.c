// Fourier transforms on GPUs against the CPU's kernel.
#include "tests/cuda/both.h"
#include "tests/runtime/dft.h"

CALL_BOTH(dft, p, o[0], o[1])

static void check(Random *r, const RtDft *p)
{
    int64_t width = rt_type_bytes(p->type), given = p->rows * p->have * p->c;
    int64_t made = p->rows * p->size * p->parts;
    void *x = draw_elements(r, p->type, given, false), *y = draw_elements(r, p->type, made, false);
    double limit = (p->type == RT_F32 ? 1e-6 : 1e-14) * 4 * sqrt((double)p->n);
    Operand o[] = {{y, made * width, true, p->type, limit}, {x, given * width}};

    CHECK_BOTH(dft, p, o, 2, rt_dft_workspace(p, RT_MAX_THREADS), 0);
    free(x);
    free(y);
}

static void test_dft(void **state)
{
    Random r = {1};

    for (int i = 0; i < 60; i++) {
        RtDft p = draw_dft(&r, i % 10 ? 40 : RT_DFT_MAX);
        p.rows = p.rows > 6 ? 6 : p.rows;
        check(&r, &p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dft)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_dft");
}
