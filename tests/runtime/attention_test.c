// Tests that attention stays within its planned workspace, whichever thread takes a part of it, its
// blocks of keys, and attention of halves against loops over all scores.
// tests/generator/attention_test.c tests its results on small operands of f32.
#include "tests/runtime/halves.h"

// Runs attention over that many rows, which are one part, or several that threads share.
static void keeps_to_workspace(int rows)
{
    enum { T = 96, E = 80, F = 32, THREADS = 4 };
    RtAttention p = {.s = rows, .t = T, .e = E, .f = F, .scale = 0.1f};
    int64_t bytes = rt_attention_workspace(&p, THREADS), all = THREADS * bytes;
    char *workspace = malloc((size_t)all);
    Rt rt = {.threads = THREADS, .workspace = workspace};
    Random r = {1};

    p.q.row = p.k.row = E;
    p.v.row = p.y.row = F;
    p.q.col = p.k.col = p.v.col = p.y.col = p.max.row = p.sum.row = 1;
    float *q = draw_floats(&r, rows * E), *k = draw_floats(&r, T * E), *v = draw_floats(&r, T * F);
    float *y = draw_floats(&r, rows * F), *max = draw_floats(&r, rows);
    float *sum = draw_floats(&r, rows);
    memset(workspace, 7, (size_t)all);
    for (int again = 0; again < 100; again++)
        rt_attention(&rt, &p, y, max, sum, q, k, v, NULL, NULL, NULL, NULL);
    for (int64_t i = bytes; i < all; i++)
        assert_int_equal(workspace[i], 7);
    free(workspace);
    free(q);
    free(k);
    free(v);
    free(y);
    free(max);
    free(sum);
}

static void test_workspace(void **state)
{
    keeps_to_workspace(64);
    keeps_to_workspace(500);
}

enum { S = 50, T_LONG = 700, WIDTH = 8, OFFSET = T_LONG - S };

// One query against the keys that it sees. Adds to the gradient of v.
static void attend(float *y, const float *q, const float *k, const float *v, const float *bias,
                   int64_t first, int64_t last, const float *dy, double *dv)
{
    double score[T_LONG];
    double sum = 0, weighted[WIDTH] = {0};

    for (int64_t t = first; t < last; t++) {
        score[t] = (double)bias[t];
        for (int c = 0; c < WIDTH; c++)
            score[t] += (double)q[c] * (double)k[t * WIDTH + c];
        sum += exp(score[t]);
        for (int c = 0; c < WIDTH; c++)
            weighted[c] += exp(score[t]) * (double)v[t * WIDTH + c];
    }
    for (int c = 0; c < WIDTH; c++)
        y[c] = (float)(weighted[c] / sum);
    for (int64_t t = first; t < last; t++)
        for (int c = 0; c < WIDTH; c++)
            dv[t * WIDTH + c] += exp(score[t]) / sum * (double)dy[c];
}

// Queries whose windows begin after a block of keys that others of their part still see.
static void window_with_bias(int64_t window)
{
    RtAttention p = {.s = S,
                     .t = T_LONG,
                     .e = WIDTH,
                     .f = WIDTH,
                     .scale = 1,
                     .has_bias = true,
                     .causal = true,
                     .offset = OFFSET,
                     .window = window};
    char *workspace = malloc((size_t)rt_attention_workspace(&p, 1));
    Rt rt = {.threads = 1, .workspace = workspace};
    Random r = {2};
    float y[S * WIDTH], want[WIDTH], max[S], sum[S], dq[S * WIDTH], dk[T_LONG * WIDTH],
        dv[T_LONG * WIDTH];
    double want_dv[T_LONG * WIDTH] = {0};

    p.q.row = p.k.row = p.v.row = p.y.row = WIDTH;
    p.q.col = p.k.col = p.v.col = p.y.col = p.max.row = p.sum.row = p.bias.col = 1;
    p.bias.row = T_LONG;
    p.dy = p.dq = p.q;
    p.dk = p.dv = p.k;
    float *q = draw_floats(&r, S * WIDTH), *k = draw_floats(&r, T_LONG * WIDTH),
          *v = draw_floats(&r, T_LONG * WIDTH), *bias = draw_floats(&r, S * T_LONG),
          *dy = draw_floats(&r, S * WIDTH);
    rt_attention(&rt, &p, y, max, sum, q, k, v, bias, NULL, NULL, NULL);
    for (int64_t i = 0; i < S; i++) {
        int64_t first = i + OFFSET - window + 1;
        attend(want, q + i * WIDTH, k, v, bias + i * T_LONG, first > 0 ? first : 0, i + OFFSET + 1,
               dy + i * WIDTH, want_dv);
        for (int c = 0; c < WIDTH; c++)
            assert_float_equal(y[i * WIDTH + c], want[c], 1e-5f);
    }
    rt_attention_grad(&rt, &p, dq, dk, dv, q, k, v, bias, NULL, NULL, NULL, y, max, sum, dy);
    for (int i = 0; i < T_LONG * WIDTH; i++)
        assert_float_equal(dv[i], (float)want_dv[i], 1e-5f);
    free(workspace);
    free(q);
    free(k);
    free(v);
    free(bias);
    free(dy);
}

static void test_window(void **state)
{
    for (int64_t window = 100; window < T_LONG; window += 7)
        window_with_bias(window);
}

// Each query has chosen one key: number i has number i, by scores of 1e6. So q and k have no
// gradient: dy v - D is 0 only if the two round alike, and is multiplied by keys and queries.
static void choose_keys(int64_t width)
{
    enum { N = 40 };
    RtAttention p = {.s = N, .t = N, .e = N, .f = width, .scale = 1};
    char *workspace = malloc((size_t)rt_attention_workspace(&p, 1));
    Rt rt = {.threads = 1, .workspace = workspace};
    Random r = {(uint64_t)width};
    float q[N * N] = {0}, max[N], sum[N], dq[N * N], dk[N * N];
    float *v = draw_floats(&r, N * width), *dy = draw_floats(&r, N * width);
    float *y = draw_floats(&r, N * width), *dv = draw_floats(&r, N * width);

    for (int i = 0; i < N; i++)
        q[i * N + i] = 1000;
    for (int64_t i = 0; i < N * width; i++)
        v[i] *= 1e5f;
    p.q = p.k = p.dq = p.dk = (RtStrides){.row = N, .col = 1};
    p.v = p.y = p.dy = p.dv = (RtStrides){.row = width, .col = 1};
    p.max.row = p.sum.row = 1;
    rt_attention(&rt, &p, y, max, sum, q, q, v, NULL, NULL, NULL, NULL);
    rt_attention_grad(&rt, &p, dq, dk, dv, q, q, v, NULL, NULL, NULL, NULL, y, max, sum, dy);
    for (int i = 0; i < N * N; i++)
        assert_true(dq[i] == 0 && dk[i] == 0);
    assert_memory_equal(y, v, (size_t)(N * width) * sizeof *y);
    assert_memory_equal(dv, dy, (size_t)(N * width) * sizeof *dv);
    free(workspace);
    free(v);
    free(dy);
    free(y);
    free(dv);
}

static void test_chosen_keys(void **state)
{
    for (int64_t width = 1; width < 140; width++)
        choose_keys(width);
}

// ---- random shapes, of f32 and of halves ----

enum { QS, KS, VS, YS, OPERANDS };

// The operands of one attention with one batch dim and one group dim, and the wanted results.
typedef struct Problem {
    RtAttention p;
    Tensor of[OPERANDS], dy;
    float *bias, *dq, *dk, *dv;  // dense, in the order batch, group, row, col; dk, dv without group
    int64_t n[OPERANDS];         // elements that the strides span
} Problem;

static int64_t draw_operand(Random *r, RtStrides *x, const RtAttention *p, bool has_group,
                            int64_t rows, int64_t columns)
{
    int64_t dim[] = {p->batch[0], p->group[0], rows, columns};
    int64_t *stride[] = {&x->batch[0], &x->group[0], &x->row, &x->col};

    if (has_group)
        return draw_strides(r, 4, dim, stride);
    dim[1] = dim[0];
    stride[1] = stride[0];
    return draw_strides(r, 3, dim + 1, stride + 1);
}

static int64_t at(const RtStrides *x, int64_t b, int64_t g, int64_t row, int64_t col)
{
    return b * x->batch[0] + g * x->group[0] + row * x->row + col * x->col;
}

static Problem draw_problem(Random *r, RtType t)
{
    Problem a = {{.n_batch = 1,
                  .n_group = 1,
                  .batch = {1 + draw(r, 3)},
                  .group = {1 + draw(r, 2)},
                  .s = 1 + draw(r, 150),
                  .t = 1 + draw(r, 330),
                  .e = 1 + draw(r, 40),
                  .f = 1 + draw(r, 40),
                  .scale = 0.5f,
                  .has_bias = draw(r, 2),
                  .causal = draw(r, 2),
                  .type = t}};
    RtAttention *p = &a.p;

    p->offset = p->t > p->s ? p->t - p->s : 0;
    a.n[QS] = draw_operand(r, &p->q, p, true, p->s, p->e);
    a.n[KS] = draw_operand(r, &p->k, p, false, p->t, p->e);
    a.n[VS] = draw_operand(r, &p->v, p, false, p->t, p->f);
    a.n[YS] = draw_operand(r, &p->y, p, true, p->s, p->f);
    p->dq = p->q;
    p->dk = p->k;
    p->dv = p->v;
    p->dy = p->y;
    p->max = p->sum =
        (RtStrides){.batch = {p->group[0] * p->s}, .group = {p->s}, .row = 1, .col = 1};
    p->bias = (RtStrides){.row = p->t, .col = 1};
    for (int i = 0; i < OPERANDS; i++)
        a.of[i] = draw_tensor(r, t, a.n[i]);
    a.dy = draw_tensor(r, t, a.n[YS]);
    a.bias = draw_floats(r, p->s * p->t);
    a.dq = calloc((size_t)a.n[QS], sizeof *a.dq);
    a.dk = calloc((size_t)a.n[KS], sizeof *a.dk);
    a.dv = calloc((size_t)a.n[VS], sizeof *a.dv);
    return a;
}

static double product_of(int64_t n, const float *a, int64_t a_col, const float *b, int64_t b_col)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += (double)a[i * a_col] * (double)b[i * b_col];
    return sum;
}

// The weights of one query.
static void weigh(const Problem *a, int64_t b, int64_t g, int64_t s, double *weight)
{
    const RtAttention *p = &a->p;
    double sum = 0;

    for (int64_t t = 0; t < p->t; t++) {
        bool is_seen = !p->causal || t <= s + p->offset;
        double score = product_of(p->e, a->of[QS].value + at(&p->q, b, g, s, 0), p->q.col,
                                  a->of[KS].value + at(&p->k, b, 0, t, 0), p->k.col);
        score = score * (double)p->scale + (p->has_bias ? (double)a->bias[s * p->t + t] : 0);
        weight[t] = is_seen ? exp(score) : 0;
        sum += weight[t];
    }
    for (int64_t t = 0; t < p->t; t++)
        weight[t] /= sum;
}

// Adds the gradients of one query, whose y the kernel has computed.
static void add_gradients(Problem *a, int64_t b, int64_t g, int64_t s, const double *weight)
{
    const RtAttention *p = &a->p;
    const float *dy = a->dy.value + at(&p->dy, b, g, s, 0);
    int64_t y = at(&p->y, b, g, s, 0), q = at(&p->q, b, g, s, 0);
    double d = product_of(p->f, a->of[YS].value + y, p->y.col, dy, p->dy.col);

    for (int64_t t = 0; t < p->t; t++) {
        int64_t k = at(&p->k, b, 0, t, 0), v = at(&p->v, b, 0, t, 0);
        double dp = product_of(p->f, dy, p->dy.col, a->of[VS].value + v, p->v.col);
        float ds = (float)(weight[t] * (dp - d) * (double)p->scale);

        for (int64_t c = 0; c < p->e; c++) {
            a->dq[q + c * p->q.col] += ds * a->of[KS].value[k + c * p->k.col];
            a->dk[k + c * p->k.col] += ds * a->of[QS].value[q + c * p->q.col];
        }
        for (int64_t c = 0; c < p->f; c++)
            a->dv[v + c * p->v.col] += (float)weight[t] * dy[c * p->dy.col];
    }
}

// Checks y of one query.
static void check_query(const Problem *a, int64_t b, int64_t g, int64_t s, const double *weight)
{
    const RtAttention *p = &a->p;

    for (int64_t c = 0; c < p->f; c++) {
        double sum = 0;
        for (int64_t t = 0; t < p->t; t++)
            sum += weight[t] * (double)a->of[VS].value[at(&p->v, b, 0, t, c)];
        float want = (float)sum;
        check_tensor("attention, y", p->type,
                     (const char *)a->of[YS].data + at(&p->y, b, g, s, c) * rt_type_bytes(p->type),
                     &want, 1, 4e-6);
    }
}

// The results of so many threads: y, and the gradients after it.
static void run(Problem *a, int threads, void *dq, void *dk, void *dv)
{
    RtAttention *p = &a->p;
    const Tensor *o = a->of;
    float *most = malloc(sizeof(float) * (size_t)(p->batch[0] * p->group[0] * p->s) * 2);
    float *sum = most + p->batch[0] * p->group[0] * p->s;
    Rt rt = rt_new(threads, rt_attention_grad_workspace(p, threads));

    rt_attention(&rt, p, o[YS].data, most, sum, o[QS].data, o[KS].data, o[VS].data, a->bias, NULL,
                 NULL, NULL);
    rt_attention_grad(&rt, p, dq, dk, dv, o[QS].data, o[KS].data, o[VS].data, a->bias, NULL, NULL,
                      NULL, o[YS].data, most, sum, a->dy.data);
    rt_delete(&rt);
    free(most);
}

static void check_problem(Random *r, RtType t)
{
    Problem a = draw_problem(r, t);
    const RtAttention *p = &a.p;
    Tensor got[2][3];
    double *weight = malloc(sizeof *weight * (size_t)p->t);

    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++)
            got[i][j] = tensor_of(t, calloc((size_t)a.n[j] + 1, sizeof(float)), a.n[j]);
        run(&a, 1 + 2 * i, got[i][0].data, got[i][1].data, got[i][2].data);
    }
    for (int64_t i = 0; i < a.n[YS]; i++)
        a.of[YS].value[i] = element(t, a.of[YS].data, i);
    for (int64_t i = 0; i < p->batch[0] * p->group[0] * p->s; i++) {
        int64_t b = i / p->s / p->group[0], g = i / p->s % p->group[0];
        weigh(&a, b, g, i % p->s, weight);
        check_query(&a, b, g, i % p->s, weight);
        add_gradients(&a, b, g, i % p->s, weight);
    }
    double many = 1e-5 * sqrt((double)(p->s + p->t));
    check_tensor("attention, dq", t, got[0][0].data, a.dq, a.n[QS], many);
    check_tensor("attention, dk", t, got[0][1].data, a.dk, a.n[KS], many);
    check_tensor("attention, dv", t, got[0][2].data, a.dv, a.n[VS], many);
    for (int j = 0; j < 3; j++) {
        assert_memory_equal(got[0][j].data, got[1][j].data, a.n[j] * rt_type_bytes(t));
        tensor_free(&got[0][j]);
        tensor_free(&got[1][j]);
    }
    for (int i = 0; i < OPERANDS; i++)
        tensor_free(&a.of[i]);
    tensor_free(&a.dy);
    void *all[] = {a.bias, a.dq, a.dk, a.dv, weight};
    for (int i = 0; i < 5; i++)
        free(all[i]);
}

static void test_random_shapes(void **state)
{
    static const RtType types[] = {RT_NONE, RT_BF16, RT_F16};
    Random r = {5};

    for (int i = 0; i < 45; i++)
        check_problem(&r, types[i % 3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workspace), cmocka_unit_test(test_window),
        cmocka_unit_test(test_chosen_keys), cmocka_unit_test(test_random_shapes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
