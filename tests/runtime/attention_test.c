// Tests that attention stays within its planned workspace, whichever thread takes a part of it, and
// its blocks of keys. tests/generator/attention_test.c tests its results on small operands.
#include "tests/runtime/kernels.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_workspace),
                                       cmocka_unit_test(test_window),
                                       cmocka_unit_test(test_chosen_keys)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
