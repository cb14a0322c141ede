// Tests convolutions of halves against those of f32 of the same numbers, in all directions: also by
// the tests' matrix unit. tests/runtime/conv_test.c has random shapes.
#include "tests/runtime/convolution.h"
#include "tests/runtime/halves.h"

typedef struct Results {
    Tensor y, dx, dw;
} Results;

static Results compute(const RtConv *p, const void *x, const void *w, const void *dy)
{
    RtType t = p->result == RT_NONE ? p->type : p->result;
    int64_t ny = p->n * p->o * spatial(p, p->y_dim), nx = p->n * p->c * spatial(p, p->x_dim);
    Random r = {1};
    Results a = {draw_tensor(&r, t, ny), draw_tensor(&r, t, nx),
                 draw_tensor(&r, t, rt_conv_weights(p))};
    Rt rt = rt_new(2, rt_conv_workspace(p));

    rt_conv_init(&rt, 1, p);
    rt_conv_input_grad_init(&rt, 2, p);
    rt_conv_weight_grad_init(&rt, 3, p);
    rt_conv(&rt, 1, a.y.data, x, w);
    rt_conv_input_grad(&rt, 2, a.dx.data, dy, w);
    rt_conv_weight_grad(&rt, 3, a.dw.data, x, dy);
    rt_delete(&rt);
    return a;
}

static void check_result(const char *what, Tensor *half, Tensor *single)
{
    check_tensor(what, half->type, half->data, single->data, half->n, 1e-4);
    tensor_free(half);
    tensor_free(single);
}

static void check(RtConv p, RtType t, RtType result)
{
    Random r = {(uint64_t)p.c};
    Tensor x = draw_tensor(&r, t, p.n * p.c * spatial(&p, p.x_dim));
    Tensor w = draw_tensor(&r, t, rt_conv_weights(&p));
    Tensor dy = draw_tensor(&r, t, p.n * p.o * spatial(&p, p.y_dim));
    Results single = compute(&p, x.value, w.value, dy.value);

    p.type = t;
    p.result = result;
    Results half = compute(&p, x.data, w.data, dy.data);
    check_result("conv", &half.y, &single.y);
    check_result("conv_input_grad", &half.dx, &single.dx);
    check_result("conv_weight_grad", &half.dw, &single.dw);
    tensor_free(&x);
    tensor_free(&w);
    tensor_free(&dy);
}

static void test_forms(void **state)
{
    // c, o, groups, size, stride, channels last
    static const int64_t forms[][6] = {
        {64, 64, 1, 3, 1, true},  {128, 96, 1, 1, 1, true}, {32, 70, 1, 3, 2, true},
        {33, 64, 1, 2, 1, true},  {3, 32, 1, 5, 2, true},   {40, 40, 40, 5, 1, true},
        {24, 24, 24, 3, 1, true}, {50, 50, 50, 5, 2, true}, {600, 600, 600, 3, 2, true},
        {17, 17, 17, 2, 3, true}, {32, 48, 1, 3, 1, false}, {32, 32, 4, 3, 1, true}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int j = 0; j < 4; j++) {
            const int64_t *f = forms[i];
            RtConv p = {.n = 2, .c = f[0], .o = f[1], .groups = f[2], .x_last = f[5]};
            p.y_last = p.x_last;
            p.window.n = 2;
            for (int k = 0; k < 2; k++) {
                p.window.size[k] = f[3];
                p.window.stride[k] = f[4];
                p.window.dilation[k] = 1;
                p.window.low[k] = p.window.high[k] = f[3] / 2;
                p.x_dim[k] = 11 + k;
                p.y_dim[k] = (p.x_dim[k] + 2 * p.window.low[k] - f[3]) / f[4] + 1;
            }
            check(p, j % 2 ? RT_BF16 : RT_F16, j < 2 ? RT_NONE : RT_F32);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
