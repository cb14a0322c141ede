// Tests the three directions of convolution against loops over all elements: random shapes,
// strides, paddings, dilations, groups, both layouts, empty dims, f32 and halves.
#include "runtime/cpu/conv_matrix.h"
#include "tests/runtime/convolution.h"
#include "tests/runtime/halves.h"
#include "tests/sanitized.h"

typedef struct Tensors {
    Tensor x, w, dy;  // operands
    Tensor y, dx, dw;
    int64_t nx, nw, ny;
} Tensors;

static RtType result_type(const RtConv *p) { return p->result == RT_NONE ? p->type : p->result; }

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
                double sum = 0, dy = (double)t->dy.value[y];
                for (int64_t k = 0; k < taps; k++) {
                    int64_t position = x_under[i * taps + k];
                    for (int64_t c = 0; c < per && position >= 0; c++) {
                        int64_t x = element_at(p->x_last, n, p->c, o / out * per + c, x_positions,
                                               position);
                        int64_t w = (o * per + c) * taps + k;
                        sum += (double)t->x.value[x] * (double)t->w.value[w];
                        dx[x] += dy * (double)t->w.value[w];
                        dw[w] += dy * (double)t->x.value[x];
                    }
                }
                t->y.value[y] = (float)sum;
            }
    for (int64_t i = 0; i < t->nx; i++)
        t->dx.value[i] = (float)dx[i];
    for (int64_t i = 0; i < t->nw; i++)
        t->dw.value[i] = (float)dw[i];
    free(x_under);
    free(dx);
    free(dw);
}

static Tensors tensors_new(Random *r, const RtConv *p)
{
    Tensors t = {.nx = p->n * p->c * spatial(p, p->x_dim),
                 .nw = p->o * (p->c / p->groups) * spatial(p, p->window.size),
                 .ny = p->n * p->o * spatial(p, p->y_dim)};

    RtType result = result_type(p);

    t.x = draw_tensor(r, p->type, t.nx);
    t.w = draw_tensor(r, p->type, t.nw);
    t.dy = draw_tensor(r, p->type, t.ny);
    t.y = draw_tensor(r, result, t.ny);
    t.dx = draw_tensor(r, result, t.nx);
    t.dw = draw_tensor(r, result, t.nw);
    return t;
}

static void tensors_free(Tensors *t)
{
    Tensor *all[] = {&t->x, &t->dx, &t->w, &t->dw, &t->y, &t->dy};

    for (int i = 0; i < 6; i++)
        tensor_free(all[i]);
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

// The results of so many threads, twice into the same memory.
static void run(const RtConv *p, const Tensors *t, int threads)
{
    Rt rt = rt_new(threads, rt_conv_workspace(p));

    rt_conv_init(&rt, 1, p);
    rt_conv_input_grad_init(&rt, 2, p);
    rt_conv_weight_grad_init(&rt, 3, p);
    for (int again = 0; again < 2; again++) {
        rt_conv(&rt, 1, t->y.data, t->x.data, t->w.data);
        rt_conv_input_grad(&rt, 2, t->dx.data, t->dy.data, t->w.data);
        rt_conv_weight_grad(&rt, 3, t->dw.data, t->x.data, t->dy.data);
    }
    rt_delete(&rt);
}

static void *copy_of(const Tensor *t)
{
    size_t bytes = (size_t)(t->n * rt_type_bytes(t->type));

    return memcpy(malloc(bytes + 1), t->data, bytes);
}

static void check(Random *r, const RtConv *p)
{
    Tensors t = tensors_new(r, p);
    RtType result = result_type(p);
    size_t bytes = (size_t)rt_type_bytes(result);
    void *one[3] = {NULL, NULL, NULL};

    naive(p, &t);
    for (int threads = 1; threads <= 2; threads++) {
        run(p, &t, threads);
        double length = (double)(p->c * spatial(p, p->window.size));
        check_tensor("conv", result, t.y.data, t.y.value, t.ny, 4e-6 * (1 + sqrt(length)));
        length = (double)(p->o * spatial(p, p->window.size));
        check_tensor("conv_input_grad", result, t.dx.data, t.dx.value, t.nx,
                     4e-6 * (1 + sqrt(length)));
        length = (double)(p->n * spatial(p, p->y_dim));
        check_tensor("conv_weight_grad", result, t.dw.data, t.dw.value, t.nw,
                     4e-6 * (1 + sqrt(length)));
        if (threads == 1) {
            one[0] = copy_of(&t.y);
            one[1] = copy_of(&t.dx);
            one[2] = copy_of(&t.dw);
        }
        if (rt_conv_matrix_fits(p, RT_CONV))
            assert_memory_equal(one[0], t.y.data, bytes * (size_t)t.ny);
        if (rt_conv_matrix_fits(p, RT_CONV_INPUT_GRAD))
            assert_memory_equal(one[1], t.dx.data, bytes * (size_t)t.nx);
        if (is_ours(p) || rt_conv_matrix_fits(p, RT_CONV_WEIGHT_GRAD))
            assert_memory_equal(one[2], t.dw.data, bytes * (size_t)t.nw);
    }
    for (int i = 0; i < 3; i++)
        free(one[i]);
    tensors_free(&t);
}

// The types of operands and results, in turns.
static void set_types(RtConv *p, int i)
{
    static const RtType types[][2] = {{RT_NONE, RT_NONE}, {RT_BF16, RT_NONE}, {RT_NONE, RT_NONE},
                                      {RT_F16, RT_NONE},  {RT_BF16, RT_F32},  {RT_F16, RT_F32}};

    p->type = types[i % 6][0];
    p->result = types[i % 6][1];
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

    for (int i = 0; i < (IS_SANITIZED ? 45 : 150); i++) {
        RtConv p = {.n = draw_size(&r, 4), .groups = draw(&r, 2) ? 1 : 1 + draw(&r, 5)};
        set_types(&p, i);
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
        set_types(&p, i / 3);
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
            set_types(&p, last + 2 * (int)i);
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

// Convolutions of halves that are widened some samples at a time.
static void test_parts(void **state)
{
    Random r = {4};

    for (int i = 0; i < 2; i++) {
        RtConv p = {.n = 6, .c = 16, .o = 16, .groups = 16, .x_last = i, .y_last = i};
        p.type = i ? RT_F16 : RT_BF16;
        p.window.n = 2;
        for (int k = 0; k < 2; k++) {
            p.window.size[k] = 3;
            p.window.stride[k] = p.window.dilation[k] = 1;
            p.window.low[k] = p.window.high[k] = 1;
            p.x_dim[k] = p.y_dim[k] = 190 + k;
        }
        assert_int_equal(rt_conv_of_f32(&p).n, 3);
        check(&r, &p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
