// Tests the three directions of convolution against loops over all elements: random shapes,
// strides, paddings, dilations, groups, both layouts, and empty dims.
#include "runtime/cpu/conv_matrix.h"
#include "tests/runtime/convolution.h"
#include "tests/sanitized.h"

typedef struct Tensors {
    float *x, *w, *y, *dx, *dw, *dy;
    int64_t nx, nw, ny;
} Tensors;

// Adds one product for each tap, channel pair and position to all three results.
static void naive(const RtConv *p, const Tensors *t)
{
    int64_t taps = spatial(p, p->window.size), positions = spatial(p, p->y_dim);
    int64_t per = p->c / p->groups, out = p->o / p->groups, x_positions = spatial(p, p->x_dim);
    double *dx = calloc((size_t)t->nx + 1, sizeof *dx), *dw = calloc((size_t)t->nw + 1, sizeof *dw);
    int64_t *x_under = all_under(p);

    for (int64_t n = 0; n < p->n; n++)
        for (int64_t o = 0; o < p->o; o++)
            for (int64_t i = 0; i < positions; i++) {
                int64_t y = element_at(p->y_last, n, p->o, o, positions, i);
                double sum = 0, dy = (double)t->dy[y];
                for (int64_t k = 0; k < taps; k++) {
                    int64_t position = x_under[i * taps + k];
                    for (int64_t c = 0; c < per && position >= 0; c++) {
                        int64_t x = element_at(p->x_last, n, p->c, o / out * per + c, x_positions,
                                               position);
                        int64_t w = (o * per + c) * taps + k;
                        sum += (double)t->x[x] * (double)t->w[w];
                        dx[x] += dy * (double)t->w[w];
                        dw[w] += dy * (double)t->x[x];
                    }
                }
                t->y[y] = (float)sum;
            }
    for (int64_t i = 0; i < t->nx; i++)
        t->dx[i] = (float)dx[i];
    for (int64_t i = 0; i < t->nw; i++)
        t->dw[i] = (float)dw[i];
    free(x_under);
    free(dx);
    free(dw);
}

static Tensors tensors_new(Random *r, const RtConv *p)
{
    Tensors t = {.nx = p->n * p->c * spatial(p, p->x_dim),
                 .nw = p->o * (p->c / p->groups) * spatial(p, p->window.size),
                 .ny = p->n * p->o * spatial(p, p->y_dim)};

    t.x = draw_floats(r, t.nx);
    t.dx = draw_floats(r, t.nx);
    t.w = draw_floats(r, t.nw);
    t.dw = draw_floats(r, t.nw);
    t.y = draw_floats(r, t.ny);
    t.dy = draw_floats(r, t.ny);
    return t;
}

static void tensors_free(Tensors *t)
{
    float *all[] = {t->x, t->dx, t->w, t->dw, t->y, t->dy};

    for (int i = 0; i < 6; i++)
        free(all[i]);
}

// Does shardcc's own kernel compute the gradient of the weight, with the same bits for any number
// of threads?
static bool is_ours(const RtConv *p)
{
    int64_t size = p->window.size[p->window.n - 1];
    bool is_depthwise = p->groups == p->c && p->groups == p->o && p->c >= 16;
    bool is_product = p->groups == 1 && p->c >= 32 && p->c % 8 == 0 && p->o >= 32;
    bool is_matrix = p->groups == 1 && p->c > p->o && p->o > 1;

    for (int i = 0; i < p->window.n; i++)
        is_matrix &= p->window.size[i] == 1 && p->window.stride[i] == 1 && p->window.low[i] == 0;
    return p->x_last && p->y_last &&
           ((is_depthwise && (size == 5 || size == 7)) || (is_product && p->o % 32 == 0) ||
            is_matrix);
}

static void check(Random *r, const RtConv *p)
{
    Tensors t = tensors_new(r, p), want = t;

    want.y = malloc(sizeof(float) * (size_t)(t.ny + 1));
    want.dx = malloc(sizeof(float) * (size_t)(t.nx + 1));
    want.dw = malloc(sizeof(float) * (size_t)(t.nw + 1));
    naive(p, &want);
    Tensors one = tensors_new(r, p);
    for (int threads = 1; threads <= 2; threads++) {
        Rt rt = rt_new(threads, rt_conv_workspace(p));
        rt_conv_init(&rt, 1, p);
        rt_conv_input_grad_init(&rt, 2, p);
        rt_conv_weight_grad_init(&rt, 3, p);
        for (int again = 0; again < 2; again++) {
            rt_conv(&rt, 1, t.y, t.x, t.w);
            rt_conv_input_grad(&rt, 2, t.dx, t.dy, t.w);
            rt_conv_weight_grad(&rt, 3, t.dw, t.x, t.dy);
        }
        double length = (double)(p->c * spatial(p, p->window.size));
        check_floats("conv", t.y, want.y, t.ny, 4e-6 * (1 + sqrt(length)));
        length = (double)(p->o * spatial(p, p->window.size));
        check_floats("conv_input_grad", t.dx, want.dx, t.nx, 4e-6 * (1 + sqrt(length)));
        length = (double)(p->n * spatial(p, p->y_dim));
        check_floats("conv_weight_grad", t.dw, want.dw, t.nw, 4e-6 * (1 + sqrt(length)));
        if (threads == 1) {
            memcpy(one.y, t.y, sizeof(float) * (size_t)t.ny);
            memcpy(one.dx, t.dx, sizeof(float) * (size_t)t.nx);
            memcpy(one.dw, t.dw, sizeof(float) * (size_t)t.nw);
        }
        if (rt_conv_matrix_fits(p, RT_CONV))
            assert_memory_equal(one.y, t.y, sizeof(float) * (size_t)t.ny);
        if (rt_conv_matrix_fits(p, RT_CONV_INPUT_GRAD))
            assert_memory_equal(one.dx, t.dx, sizeof(float) * (size_t)t.nx);
        if (is_ours(p) || rt_conv_matrix_fits(p, RT_CONV_WEIGHT_GRAD))
            assert_memory_equal(one.dw, t.dw, sizeof(float) * (size_t)t.nw);
        rt_delete(&rt);
    }
    tensors_free(&one);
    free(want.y);
    free(want.dx);
    free(want.dw);
    tensors_free(&t);
}

static void draw_window(Random *r, RtConv *p, int64_t most, int64_t room)
{
    RtWindow *w = &p->window;

    for (int k = 0; k < w->n; k++) {
        w->size[k] = 1 + draw(r, most);
        w->stride[k] = 1 + draw(r, 3);
        w->dilation[k] = draw(r, 4) ? 1 : 2;
        int64_t span = (w->size[k] - 1) * w->dilation[k] + 1;
        w->low[k] = draw(r, span);
        w->high[k] = draw(r, span);
        p->x_dim[k] = span + draw(r, room);
        p->y_dim[k] = (p->x_dim[k] + w->low[k] + w->high[k] - span) / w->stride[k] + 1;
    }
}

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < (IS_SANITIZED ? 30 : 120); i++) {
        RtConv p = {.n = draw_size(&r, 4), .groups = draw(&r, 2) ? 1 : 1 + draw(&r, 5)};
        p.c = p.groups * (1 + draw(&r, 9));
        p.o = p.groups * (1 + draw(&r, 20));
        if (draw(&r, 4) == 0)  // depthwise
            p.c = p.o = p.groups = 1 + draw(&r, 40);
        p.window.n = 1 + (int)draw(&r, 3);
        p.x_last = draw(&r, 2);
        p.y_last = draw(&r, 4) ? p.x_last : !p.x_last;
        draw_window(&r, &p, 7, p.window.n == 3 ? 4 : 12);
        check(&r, &p);
    }
}

// Tests convolutions whose weight gradient is a matrix product. In every third case the product's
// rows are cut into blocks.
static void test_products(void **state)
{
    static const int64_t out[] = {32, 61, 64, 96};
    Random r = {3};

    for (int i = 0; i < (IS_SANITIZED ? 9 : 36); i++) {
        RtConv p = {.n = 1 + draw(&r, 3), .groups = 1, .x_last = true, .y_last = true};
        p.c = 32 + 8 * draw(&r, 4);
        p.o = out[draw(&r, 4)];
        p.window.n = i % 3 + 1;
        draw_window(&r, &p, 3, p.window.n == 1 ? 800 : p.window.n == 2 ? 20 : 4);
        check(&r, &p);
    }
}

static void test_kinds(void **state)
{
    static const int64_t kinds[][6] = {
        {8, 3, 16, 1, 7, 2},   {2, 64, 64, 1, 1, 1},  {2, 33, 17, 1, 3, 1},  {3, 24, 24, 24, 3, 1},
        {2, 40, 40, 40, 5, 2}, {3, 21, 21, 21, 5, 1}, {1, 16, 16, 16, 7, 2}, {2, 72, 72, 72, 3, 2},
        {1, 3, 48, 1, 16, 16}, {9, 1, 1, 1, 1, 1},    {2, 75, 20, 1, 1, 1},  {1, 1100, 33, 1, 1, 1},
        {3, 40, 21, 1, 1, 2},  {2, 64, 144, 1, 3, 1}, {2, 160, 64, 1, 1, 1}, {3, 64, 160, 1, 1, 2},
        {2, 96, 64, 1, 3, 2}};  // n c o groups size stride
    Random r = {2};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int last = 0; last < 2; last++) {
            RtConv p = {.n = kinds[i][0],
                        .c = kinds[i][1],
                        .o = kinds[i][2],
                        .groups = kinds[i][3],
                        .x_last = last,
                        .y_last = last};
            p.window.n = 2;
            for (int k = 0; k < 2; k++) {
                p.window.size[k] = kinds[i][4];
                p.window.stride[k] = kinds[i][5];
                p.window.dilation[k] = 1;
                p.window.low[k] = p.window.high[k] = kinds[i][5] > 2 ? 0 : kinds[i][4] / 2;
                p.x_dim[k] = 32 - k;
                p.y_dim[k] = (p.x_dim[k] + 2 * p.window.low[k] - kinds[i][4]) / kinds[i][5] + 1;
            }
            check(&r, &p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
