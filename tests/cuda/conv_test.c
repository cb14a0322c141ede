// Convolutions and their gradients on GPUs against the CPU's, of halves against those in f32:
// windows, groups, both layouts.
#include "tests/cuda/windows.h"

CALL_BOTH_PREPARED(conv)
CALL_BOTH_PREPARED(conv_input_grad)
CALL_BOTH_PREPARED(conv_weight_grad)

// The types of operands and result.
static const struct {
    RtType type, result;
} types[] = {{RT_NONE, RT_NONE}, {RT_BF16, RT_NONE}, {RT_F16, RT_F32},
             {RT_F32, RT_F32},   {RT_BF16, RT_F32},  {RT_F16, RT_F16}};
enum { TYPES = sizeof types / sizeof *types };

// n elements of an input, or of the result y, which has `terms` terms.
static Operand draw_operand(Random *r, RtType t, int64_t n, bool is_result, double terms)
{
    return (Operand){draw_elements(r, t, n, false), n * rt_type_bytes(t), is_result, t,
                     2e-6 * sqrt(terms)};
}

static void check(Random *r, RtConv *p, int kind)
{
    RtType t = types[kind % TYPES].type ? types[kind % TYPES].type : RT_F32;
    RtType result = types[kind % TYPES].result ? types[kind % TYPES].result : t;
    int64_t taps = volume(p, p->window.size), n_w = p->o * (p->c / p->groups) * taps;
    int64_t n_x = p->n * p->c * volume(p, p->x_dim), n_y = p->n * p->o * volume(p, p->y_dim);
    int64_t cpu = rt_conv_workspace(p), gpu = rt_cuda_conv_workspace(p);
    double terms = (double)(p->c / p->groups * taps), outputs = (double)(p->o / p->groups * taps);
    double pixels = (double)(p->n * volume(p, p->y_dim));
    Operand x = draw_operand(r, t, n_x, false, 0), w = draw_operand(r, t, n_w, false, 0);
    Operand y = draw_operand(r, t, n_y, false, 0);
    Operand forward[] = {draw_operand(r, result, n_y, true, terms), x, w};
    Operand dx[] = {draw_operand(r, result, n_x, true, outputs), y, w};
    Operand dw[] = {draw_operand(r, result, n_w, true, pixels), x, y};
    RtConv wide = *p;

    p->type = types[kind % TYPES].type;
    p->result = types[kind % TYPES].result;
    CHECK_HALVES(conv, &wide, p, forward, 3, cpu, gpu);
    CHECK_HALVES(conv_input_grad, &wide, p, dx, 3, cpu, gpu);
    CHECK_HALVES(conv_weight_grad, &wide, p, dw, 3, cpu, gpu);
    for (int i = 0; i < 3; i++)
        free((void *)(uintptr_t)forward[i].data);
    free((void *)(uintptr_t)dx[0].data);
    free((void *)(uintptr_t)dw[0].data);
    free((void *)(uintptr_t)y.data);
}

static void test_convolutions(void **state)
{
    Random r = {1};

    for (int i = 0; i < 48; i++) {
        RtConv p = draw_window(&r, 6);
        p.groups = 1 + draw(&r, 3);
        p.c = p.groups * (1 + draw(&r, draw(&r, 2) ? 4 : 20));
        p.o = p.groups * (1 + draw(&r, draw(&r, 2) ? 4 : 20));
        check(&r, &p, i);
    }
}

// More than one tile of channels, and pixels enough for parts of the weights' gradient.
static void test_tiles(void **state)
{
    Random r = {2};

    for (int i = 0; i < TYPES; i++) {
        bool last = i % 2;
        RtConv p = {.window = {.n = 2,
                               .size = {1, 2},
                               .stride = {1, 1},
                               .low = {0, 1},
                               .high = {0, 1},
                               .dilation = {1, 1}},
                    .n = 2,
                    .c = i % 3 ? 12 : 70,
                    .o = i % 3 ? 70 : 12,
                    .groups = 1,
                    .x_dim = {17, 20},
                    .y_dim = {17, 21},
                    .x_last = last,
                    .y_last = last};
        check(&r, &p, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_convolutions),
                                       cmocka_unit_test(test_tiles)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_conv");
}
