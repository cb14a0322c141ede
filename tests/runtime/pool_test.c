// Tests the pooling kernels against loops over all elements, in both layouts; two threads must
// give the bits of one.
#include "tests/runtime/kernels.h"

typedef struct Position {
    int64_t n, c, at[3];
} Position;

static int64_t offset(const RtConv *p, const int64_t *dim, const Position *q)
{
    int64_t i = p->x_last ? q->n : q->n * p->c + q->c;

    for (int k = 0; k < p->window.n; k++)
        i = i * dim[k] + q->at[k];
    return p->x_last ? i * p->c + q->c : i;
}

static int64_t count(const RtConv *p, const int64_t *dim)
{
    int64_t n = p->n * p->c;

    for (int k = 0; k < p->window.n; k++)
        n *= dim[k];
    return n;
}

static void position_at(const RtConv *p, const int64_t *dim, int64_t i, Position *q)
{
    for (int k = p->window.n - 1; k >= 0; k--) {
        q->at[k] = i % dim[k];
        i /= dim[k];
    }
    q->c = i % p->c;
    q->n = i / p->c;
}

// The element of x under tap `t` of the window at y's position; -1 if it is padding.
static int64_t under(const RtConv *p, const Position *y, int64_t t)
{
    Position x = *y;

    for (int k = p->window.n - 1; k >= 0; k--) {
        const RtWindow *w = &p->window;
        x.at[k] = y->at[k] * w->stride[k] - w->low[k] + t % w->size[k] * w->dilation[k];
        t /= w->size[k];
        if (x.at[k] < 0 || x.at[k] >= p->x_dim[k])
            return -1;
    }
    return offset(p, p->x_dim, &x);
}

typedef struct Results {
    float *max, *sum, *max_grad, *sum_grad;
} Results;

static Results results_new(const RtConv *p)
{
    size_t y = sizeof(float) * (size_t)(count(p, p->y_dim) + 1);
    size_t x = sizeof(float) * (size_t)(count(p, p->x_dim) + 1);

    return (Results){malloc(y), malloc(y), malloc(x), malloc(x)};
}

static void results_free(Results *r)
{
    free(r->max);
    free(r->sum);
    free(r->max_grad);
    free(r->sum_grad);
}

static void naive(const RtConv *p, Results *r, const float *x, const float *dy)
{
    int64_t taps = 1;

    for (int k = 0; k < p->window.n; k++)
        taps *= p->window.size[k];
    memset(r->max_grad, 0, sizeof(float) * (size_t)count(p, p->x_dim));
    memset(r->sum_grad, 0, sizeof(float) * (size_t)count(p, p->x_dim));
    for (int64_t i = 0; i < count(p, p->y_dim); i++) {
        Position q;
        position_at(p, p->y_dim, i, &q);
        int64_t y = offset(p, p->y_dim, &q), best = -1;
        double sum = 0;
        for (int64_t t = 0; t < taps; t++) {
            int64_t at = under(p, &q, t);
            if (at < 0)
                continue;
            sum += (double)x[at];
            r->sum_grad[at] += dy[y];
            if (best < 0 || x[at] > x[best])
                best = at;
        }
        r->sum[y] = (float)sum;
        r->max[y] = best < 0 ? -INFINITY : x[best];
        if (best >= 0)
            r->max_grad[best] += dy[y];
    }
}

static void check(Random *r, const RtConv *p)
{
    int64_t nx = count(p, p->x_dim), ny = count(p, p->y_dim);
    float *x = draw_floats(r, nx), *dy = draw_floats(r, ny);
    Results want = results_new(p), got[2];

    for (int64_t i = 0; i < nx; i++)
        x[i] = roundf(x[i] * 4);  // equal elements under a window
    naive(p, &want, x, dy);
    for (int t = 0; t < 2; t++) {
        Rt rt = rt_new(t + 1, 0);
        got[t] = results_new(p);
        rt_max_pool(&rt, p, got[t].max, x);
        rt_sum_pool(&rt, p, got[t].sum, x);
        rt_max_pool_grad(&rt, p, got[t].max_grad, x, dy);
        rt_sum_pool_grad(&rt, p, got[t].sum_grad, dy);
        check_floats("max_pool", got[t].max, want.max, ny, 0);
        check_floats("sum_pool", got[t].sum, want.sum, ny, 1e-5);
        check_floats("max_pool_grad", got[t].max_grad, want.max_grad, nx, 1e-5);
        check_floats("sum_pool_grad", got[t].sum_grad, want.sum_grad, nx, 1e-5);
        rt_delete(&rt);
    }
    assert_memory_equal(got[0].sum, got[1].sum, sizeof(float) * (size_t)ny);
    assert_memory_equal(got[0].sum_grad, got[1].sum_grad, sizeof(float) * (size_t)nx);
    assert_memory_equal(got[0].max_grad, got[1].max_grad, sizeof(float) * (size_t)nx);
    for (int t = 0; t < 2; t++)
        results_free(&got[t]);
    results_free(&want);
    free(x);
    free(dy);
}

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < 300; i++) {
        RtConv p = {.n = draw_size(&r, 3), .c = draw_size(&r, draw(&r, 2) ? 100 : 5)};
        RtWindow *w = &p.window;
        w->n = 1 + (int)draw(&r, 3);
        p.x_last = p.y_last = draw(&r, 2);
        for (int k = 0; k < w->n; k++) {
            w->size[k] = 1 + draw(&r, 4);
            w->stride[k] = 1 + draw(&r, 3);
            w->dilation[k] = 1 + draw(&r, 2);
            w->low[k] = draw(&r, 3);
            w->high[k] = draw(&r, 6);
            int64_t span = (w->size[k] - 1) * w->dilation[k] + 1;
            p.x_dim[k] = draw_size(&r, w->n == 3 ? 7 : 19);
            int64_t room = p.x_dim[k] + w->low[k] + w->high[k] - span;
            p.y_dim[k] = room < 0 ? 0 : room / w->stride[k] + 1;
        }
        check(&r, &p);
    }
}

static void test_large_shape(void **state)
{
    Random r = {2};
    RtConv p = {.window = {2, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
                .n = 2,
                .c = 70,
                .x_dim = {57, 56},
                .y_dim = {29, 28}};

    check(&r, &p);
    p.x_last = p.y_last = true;
    check(&r, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_large_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
