// Pooling on GPUs against the CPU's: the same bits, as both add in the same order.
#include "tests/cuda/windows.h"

CALL_BOTH(max_pool, p, o[0], o[1])
CALL_BOTH(sum_pool, p, o[0], o[1])
CALL_BOTH(max_pool_grad, p, o[0], o[1], o[2])
CALL_BOTH(sum_pool_grad, p, o[0], o[1])

static void test_pools(void **state)
{
    Random r = {1};

    for (int i = 0; i < 200; i++) {
        RtConv p = draw_window(&r, 6);
        p.c = 1 + draw(&r, 9);
        int64_t n_x = p.n * p.c * volume(&p, p.x_dim), n_y = p.n * p.c * volume(&p, p.y_dim);
        void *x = draw_elements(&r, RT_F32, n_x, draw(&r, 2));
        void *y = draw_elements(&r, RT_F32, n_y, false),
             *dx = draw_elements(&r, RT_F32, n_x, false);
        Operand from_x[] = {{y, n_y * 4, true, RT_F32, 0}, {x, n_x * 4}};
        Operand max_grad[] = {{dx, n_x * 4, true, RT_F32, 0}, {x, n_x * 4}, {y, n_y * 4}};
        Operand sum_grad[] = {{dx, n_x * 4, true, RT_F32, 0}, {y, n_y * 4}};

        CHECK_BOTH(max_pool, &p, from_x, 2, 0, 0);
        CHECK_BOTH(sum_pool, &p, from_x, 2, 0, 0);
        CHECK_BOTH(max_pool_grad, &p, max_grad, 3, 0, 0);
        CHECK_BOTH(sum_pool_grad, &p, sum_grad, 2, 0, 0);
        free(x);
        free(y);
        free(dx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pools)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_max_pool") +
           cudart_count_unlaunched("rt_cuda_sum_pool");
}
