// rt_attention and rt_attention_grad against the formulas in double, over whole rows of scores:
// random shapes, strides, masks and biases; one thread against two, bit by bit.
#include "tests/runtime/kernels.h"

enum { Q, K, V, Y, LSE, BIAS, DY, DQ, DK, DV, N_OPERANDS };

typedef struct Tensor {
    float *x;
    uint8_t *mask;  // of BIAS where it is BOOL
    int64_t span;
} Tensor;

static int64_t product(int n, const int64_t *dim)
{
    int64_t p = 1;

    for (int i = 0; i < n; i++)
        p *= dim[i];
    return p;
}

static int64_t entry(int n, const int64_t *dim, const int64_t *stride, int64_t i)
{
    int64_t at = 0;

    for (int k = n - 1; k >= 0; k--) {
        at += i % dim[k] * stride[k];
        i /= dim[k];
    }
    return at;
}

#define AT(o, b, g, i, j)                                                                          \
    (entry(p->n_batch, p->batch, p->o.batch, b) + entry(p->n_group, p->group, p->o.group, g) +     \
     (i)*p->o.row + (j)*p->o.col)

// The probabilities of a query, and their log-sum-exp.
static double row_of(const RtAttention *p, const Tensor *t, int64_t b, int64_t g, int64_t i,
                     double *prob)
{
    double most = -INFINITY, sum = 0;

    for (int64_t j = 0; j < p->t; j++) {
        double s = 0;
        for (int64_t e = 0; e < p->e; e++)
            s += (double)t[Q].x[AT(q, b, g, i, e)] * (double)t[K].x[AT(k, b, 0, j, e)];
        s *= (double)p->scale;
        if (p->has_bias && p->bool_bias)
            s = t[BIAS].mask[AT(bias, b, g, i, j)] ? s : -INFINITY;
        else if (p->has_bias)
            s += (double)t[BIAS].x[AT(bias, b, g, i, j)];
        if (p->causal && (j > i + p->offset || (p->window > 0 && j <= i + p->offset - p->window)))
            s = -INFINITY;
        prob[j] = s;
        most = s > most ? s : most;
    }
    for (int64_t j = 0; j < p->t; j++) {
        prob[j] = most == -INFINITY ? 0 : exp(prob[j] - most);
        sum += prob[j];
    }
    for (int64_t j = 0; j < p->t; j++)
        prob[j] = sum > 0 ? prob[j] / sum : 0;
    return sum > 0 ? most + log(sum) : -INFINITY;
}

static void naive_row(const RtAttention *p, const Tensor *t, double *const *sums, int64_t b,
                      int64_t g, int64_t i, double *prob)
{
    double lse = row_of(p, t, b, g, i, prob), d = 0;

    t[LSE].x[AT(lse, b, g, i, 0)] = (float)lse;
    for (int64_t f = 0; f < p->f; f++) {
        double y = 0, dy = (double)t[DY].x[AT(dy, b, g, i, f)];
        for (int64_t j = 0; j < p->t; j++) {
            y += prob[j] * (double)t[V].x[AT(v, b, 0, j, f)];
            sums[DV][AT(dv, b, 0, j, f)] += prob[j] * dy;
        }
        t[Y].x[AT(y, b, g, i, f)] = (float)y;
        d += y * dy;
    }
    for (int64_t j = 0; j < p->t; j++) {
        double dp = 0;
        for (int64_t f = 0; f < p->f; f++)
            dp += (double)t[DY].x[AT(dy, b, g, i, f)] * (double)t[V].x[AT(v, b, 0, j, f)];
        double ds = prob[j] * (dp - d) * (double)p->scale;
        for (int64_t e = 0; e < p->e; e++) {
            sums[DQ][AT(dq, b, g, i, e)] += ds * (double)t[K].x[AT(k, b, 0, j, e)];
            sums[DK][AT(dk, b, 0, j, e)] += ds * (double)t[Q].x[AT(q, b, g, i, e)];
        }
    }
}

static void naive(const RtAttention *p, const Tensor *t)
{
    double *prob = malloc(sizeof(double) * (size_t)(p->t + 1)), *sums[N_OPERANDS] = {0};

    for (int o = DQ; o <= DV; o++)
        sums[o] = calloc((size_t)t[o].span + 1, sizeof(double));
    for (int64_t b = 0; b < product(p->n_batch, p->batch); b++)
        for (int64_t g = 0; g < product(p->n_group, p->group); g++)
            for (int64_t i = 0; i < p->s; i++)
                naive_row(p, t, sums, b, g, i, prob);
    for (int o = DQ; o <= DV; o++) {
        for (int64_t i = 0; i < t[o].span; i++)
            t[o].x[i] = (float)sums[o][i];
        free(sums[o]);
    }
    free(prob);
}

// Draws strides of one operand and its elements.
static void draw_operand(Random *r, const RtAttention *p, int64_t *batch, int64_t *group,
                         int64_t *row, int64_t *col, int64_t rows, int64_t cols, bool has_group,
                         Tensor *t)
{
    int64_t dim[2 * RT_MAX_BATCH + 2], *stride[2 * RT_MAX_BATCH + 2];
    int n = 0;

    for (int i = 0; i < p->n_batch; i++) {
        dim[n] = p->batch[i];
        stride[n++] = &batch[i];
    }
    for (int i = 0; i < p->n_group && has_group; i++) {
        dim[n] = p->group[i];
        stride[n++] = &group[i];
    }
    dim[n] = rows;
    stride[n++] = row;
    dim[n] = cols;
    stride[n++] = col;
    t->span = draw_strides(r, n, dim, stride);
    t->x = draw_floats(r, t->span);
    t->mask = malloc((size_t)t->span + 1);
    for (int64_t i = 0; i < t->span; i++)
        t->mask[i] = draw(r, 4) != 0;
}

#define DRAW(o, operand, rows, cols, has_group)                                                    \
    draw_operand(r, p, p->o.batch, p->o.group, &p->o.row, &p->o.col, rows, cols, has_group,        \
                 &t[operand])

static void draw_operands(Random *r, RtAttention *p, Tensor *t)
{
    DRAW(q, Q, p->s, p->e, true);
    DRAW(k, K, p->t, p->e, false);
    DRAW(v, V, p->t, p->f, false);
    DRAW(y, Y, p->s, p->f, true);
    DRAW(lse, LSE, p->s, 1, true);
    DRAW(bias, BIAS, p->s, p->t, true);
    DRAW(dy, DY, p->s, p->f, true);
    DRAW(dq, DQ, p->s, p->e, true);
    DRAW(dk, DK, p->t, p->e, false);
    DRAW(dv, DV, p->t, p->f, false);
    if (draw(r, 3) == 0)
        memset(p->bias.group, 0, sizeof p->bias.group);
    if (draw(r, 3) == 0)
        memset(p->bias.batch, 0, sizeof p->bias.batch);
    if (draw(r, 3) == 0)
        p->bias.row = 0;
}

static void run(const RtAttention *p, const Tensor *t, Tensor *to, int threads)
{
    Rt rt = rt_new(threads, rt_attention_workspace(p));
    const void *bias = p->bool_bias ? (const void *)t[BIAS].mask : (const void *)t[BIAS].x;

    memcpy(to, t, sizeof *to * N_OPERANDS);
    for (int o = 0; o < N_OPERANDS; o++) {
        size_t bytes = sizeof(float) * (size_t)(t[o].span + 1);
        to[o].x = memcpy(malloc(bytes), t[o].x, bytes);
        for (int64_t i = 0; i < t[o].span && o >= DQ; i++)
            to[o].x[i] = 0;  // gaps between elements, which nobody writes
    }
    rt_attention(&rt, p, to[Y].x, to[LSE].x, t[Q].x, t[K].x, t[V].x, bias, NULL, NULL,
                 NULL);
    rt_attention_grad(&rt, p, to[DQ].x, to[DK].x, to[DV].x, t[Q].x, t[K].x, t[V].x, bias, NULL,
                      NULL, NULL, to[Y].x, to[LSE].x, t[DY].x);
    rt_delete(&rt);
}

static void check(Random *r, RtAttention *p)
{
    static const char *const name[] = {"q", "k", "v", "y", "lse", "bias", "dy", "dq", "dk", "dv"};
    Tensor t[N_OPERANDS], got[2][N_OPERANDS];

    draw_operands(r, p, t);
    for (int i = 0; i < 2; i++)
        run(p, t, got[i], i + 1);
    naive(p, t);
    for (int o = Y; o < N_OPERANDS; o++) {
        double limit = o == DK || o == DV ? 2e-6 * (4 + sqrt((double)(p->s * 9))) : 1e-5;
        check_floats(name[o], got[0][o].x, t[o].x, t[o].span, limit);
        assert_memory_equal(got[0][o].x, got[1][o].x, sizeof(float) * (size_t)t[o].span);
    }
    for (int o = 0; o < N_OPERANDS; o++) {
        free(t[o].x);
        free(t[o].mask);
        free(got[0][o].x);
        free(got[1][o].x);
    }
}

static RtAttention draw_options(Random *r)
{
    RtAttention p = {.scale = 0.5f + draw_float(r) / 4};

    p.n_batch = (int)draw(r, 3);
    p.n_group = (int)draw(r, 3);
    p.has_bias = draw(r, 2);
    p.bool_bias = p.has_bias && draw(r, 2);
    p.causal = draw(r, 2);
    return p;
}

static void draw_offsets(Random *r, RtAttention *p)
{
    p->offset = p->causal ? p->t - p->s + draw(r, 9) - 4 : 0;
    p->window = p->causal && draw(r, 2) ? 1 + draw(r, p->t + 1) : 0;
}

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < 300; i++) {
        RtAttention p = draw_options(&r);
        for (int k = 0; k < RT_MAX_BATCH; k++) {
            p.batch[k] = k < p.n_batch ? draw_size(&r, 3) : 0;
            p.group[k] = k < p.n_group ? draw_size(&r, 3) : 0;
        }
        p.s = draw_size(&r, 40);
        p.t = draw_size(&r, 40);
        p.e = 1 + draw(&r, 40);
        p.f = 1 + draw(&r, 40);
        draw_offsets(&r, &p);
        check(&r, &p);
    }
}

static void test_large_shapes(void **state)
{
    static const int64_t size[][6] = {{1, 1, 200, 300, 64, 64}, {2, 2, 193, 193, 32, 32},
                                      {1, 3, 97, 129, 80, 48},  {3, 1, 1, 500, 64, 64},
                                      {1, 1, 400, 400, 16, 16}, {1, 2, 256, 256, 64, 33}};
    Random r = {2};

    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int again = 0; again < 3; again++) {
            RtAttention p = draw_options(&r);
            p.n_batch = p.n_group = 1;
            p.batch[0] = size[i][0];
            p.group[0] = size[i][1];
            p.s = size[i][2];
            p.t = size[i][3];
            p.e = size[i][4];
            p.f = size[i][5];
            draw_offsets(&r, &p);
            check(&r, &p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_large_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
