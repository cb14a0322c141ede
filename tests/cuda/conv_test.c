// Convolutions and their gradients on GPUs against the CPU's: windows, groups, both layouts.
#include "tests/cuda/windows.h"

CALL_BOTH_PREPARED(conv)
CALL_BOTH_PREPARED(conv_input_grad)
CALL_BOTH_PREPARED(conv_weight_grad)

static void check(Random *r, const RtConv *p)
{
    int64_t taps = volume(p, p->window.size), n_w = p->o * (p->c / p->groups) * taps;
    int64_t n_x = p->n * p->c * volume(p, p->x_dim), n_y = p->n * p->o * volume(p, p->y_dim);
    int64_t cpu = rt_conv_workspace(p), gpu = rt_cuda_conv_workspace(p);
    void *x = draw_floats(r, n_x), *w = draw_floats(r, n_w), *y = draw_floats(r, n_y);
    double terms = (double)(p->c / p->groups * taps), outputs = (double)(p->o / p->groups * taps);
    double pixels = (double)(p->n * volume(p, p->y_dim));
    Operand forward[] = {
        {y, n_y * 4, true, RT_F32, 2e-6 * sqrt(terms)}, {x, n_x * 4}, {w, n_w * 4}};
    Operand dx[] = {{x, n_x * 4, true, RT_F32, 2e-6 * sqrt(outputs)}, {y, n_y * 4}, {w, n_w * 4}};
    Operand dw[] = {{w, n_w * 4, true, RT_F32, 2e-6 * sqrt(pixels)}, {x, n_x * 4}, {y, n_y * 4}};

    CHECK_BOTH(conv, p, forward, 3, cpu, gpu);
    CHECK_BOTH(conv_input_grad, p, dx, 3, cpu, gpu);
    CHECK_BOTH(conv_weight_grad, p, dw, 3, cpu, gpu);
    free(x);
    free(w);
    free(y);
}

static void test_convolutions(void **state)
{
    Random r = {1};

    for (int i = 0; i < 40; i++) {
        RtConv p = draw_window(&r, 6);
        p.groups = 1 + draw(&r, 3);
        p.c = p.groups * (1 + draw(&r, draw(&r, 2) ? 4 : 20));
        p.o = p.groups * (1 + draw(&r, draw(&r, 2) ? 4 : 20));
        check(&r, &p);
    }
}

// More than one tile of channels, and pixels enough for parts of the weights' gradient.
static void test_tiles(void **state)
{
    Random r = {2};

    for (int last = 0; last < 2; last++) {
        RtConv p = {.window = {.n = 2,
                               .size = {1, 2},
                               .stride = {1, 1},
                               .low = {0, 1},
                               .high = {0, 1},
                               .dilation = {1, 1}},
                    .n = 2,
                    .c = 12,
                    .o = 70,
                    .groups = 1,
                    .x_dim = {17, 20},
                    .y_dim = {17, 21},
                    .x_last = last,
                    .y_last = last};
        check(&r, &p);
        p.c = 70;
        p.o = 12;
        check(&r, &p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_convolutions),
                                       cmocka_unit_test(test_tiles)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_conv");
}
