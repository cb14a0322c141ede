// Tests every kernel that multiplies and adds at the ends of f32's range: the largest numbers,
// infinities, NaN, tiny numbers, and all of them mixed with others. Each element of each result
// must be what its own products give in double: NaN, an infinity, or a number within the rounding
// errors.
#include "runtime/cpu/amx.h"
#include "runtime/cpu/conv_matrix.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/tile.h"
#include "tests/runtime/convolution.h"

// Operands of one kind: random numbers times `a` or `b`, and among them `a_spot` and `b_spot` in
// one of `rare` elements; 0: none. `spread`: times 2 to a random power from -spread to spread.
typedef struct Kind {
    const char *name;
    float a, b, a_spot, b_spot;
    int rare;
    int spread;
    bool is_positive;
} Kind;

#define BIG 3.40282347e38f
static const Kind kinds[] = {
    {"ordinary", 1, 1},
    {"the largest", 1, 0.01f, BIG, 0.3f, 90},
    {"the largest negative one", 1, 0.01f, -BIG, 0.3f, 90},
    {"above the largest bf16", 1, 0.01f, 3.3999e38f, -0.9f, 90},
    {"the largest, some by more than 1", 1, 1, BIG, 7, 90, .is_positive = true},
    {"inf", 1, 1, INFINITY, -0.5f, 90},
    {"-inf", 1, 1, -INFINITY, 0.5f, 90},
    {"NaN", 1, 1, NAN, 0.5f, 90},
    {"inf by 0", 1, 1, INFINITY, 0, 40},
    {"0 by inf", 1, 1, 0, INFINITY, 40},
    {"inf by tiny", 1, 1, INFINITY, 1e-40f, 40},
    {"inf by inf", 1, 1, INFINITY, INFINITY, 40},
    {"inf by -inf", 1, 1, INFINITY, -INFINITY, 40},
    {"inf by NaN", 1, 1, INFINITY, NAN, 40},
    {"inf among zeros", 0, 1, -INFINITY, 0.5f, 90},
    {"inf among tiny ones", 1e-40f, 1, INFINITY, 0.5f, 90},
    {"products overflow", 1e25f, 1e25f, .is_positive = true},
    {"sums overflow", 2e19f, 2e19f, .is_positive = true},
    {"large by small", 1e30f, 1e-30f},
    {"huge by tiny", 1e38f, 1e-38f},
    {"tiny by huge", 1e-40f, 1e38f},
    {"1e-36", 1e-36f, 1},
    {"by 1e-36", 1, 1e-36f},
    {"1e-40", 1e-40f, 1},
    {"by 1e-40", 1, 1e-40f},
    {"the least", 1e-44f, 1},
    {"products of 1e-34", 1e-17f, 1e-17f},
    {"products of 1e-40", 1e-20f, 1e-20f},
    {"products of 1e-44", 1e-22f, 1e-22f},
    {"products of 0", 1e-30f, 1e-30f},
    {"only tiny ones count", 1, 0, 1e-36f, 1, 8},
    {"only the least count", 1, 0, 1e-40f, 1, 8},
    {"2^36", 0x1p36f, 0x1p36f},
    {"2^37", 0x1p37f, 0x1p37f},
    {"below 2^36", 1, 1, 0x1.fffffep35f, 0x1.fffffep35f, 1},
    {"2^36 beside ones", 1, 1, 0x1p36f, -0x1p36f, 40},
    {"2^36 by 2^-36", 0x1p36f, 0x1p-36f, 0x1.fffffep35f, 0x1p-149f, 40},
    {"of many sizes", 1, 1, .spread = 40},
    {"of all sizes", 1, 1e-10f, .spread = 100},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static float *operand(Random *r, const Kind *k, int64_t n, bool is_a)
{
    float *x = draw_floats(r, n);

    for (int64_t i = 0; i < n; i++) {
        if (k->is_positive)
            x[i] = fabsf(x[i]);
        x[i] *= is_a ? k->a : k->b;
        if (k->spread)
            x[i] = ldexpf(x[i], (int)draw(r, 2 * k->spread + 1) - k->spread);
        if (k->rare && draw(r, k->rare) == 0)
            x[i] = is_a ? k->a_spot : k->b_spot;
    }
    return x;
}

// Sums of the positive products and of the negative ones, as a positive number, in double.
typedef struct Sum {
    double plus, minus;
    bool has_padding;  // also a product of 0 and an infinity or NaN, which counts or doesn't
} Sum;

static void add(Sum *s, double product)
{
    s->plus += product < 0 ? 0 : product;
    s->minus -= product < 0 ? product : 0;
}

static double value(const Sum *s) { return s->plus - s->minus; }
static double size(const Sum *s) { return s->plus + s->minus; }

// Fails unless y is the sum of `n` products, whose error relative to their magnitudes is at most
// `error`. The kernel's own sums are `scale` times as large. Where both signs overflow, the result
// depends on the order of the sum.
static void judge(const char *kernel, const Kind *kind, int64_t i, float y, const Sum *s, int64_t n,
                  double error, double scale)
{
    double want = value(s), most = (double)BIG * 0.9999 / scale;
    bool overflows = s->plus > most || s->minus > most;
    bool is_right;

    if (isnan(want))
        is_right = isnan(y);
    else if (isinf(want))
        is_right = (double)y == want;
    else if (fabs(want) > (double)BIG * 1.0001)
        is_right = fmin(s->plus, s->minus) > most || (isinf(y) && (y > 0) == (want > 0));
    else
        is_right =
            overflows || fabs((double)y - want) <= error * size(s) + (double)(n + 2) * 0x1p-149;
    if (!is_right && !(s->has_padding && isnan(y)))
        fail_msg("%s, %s: element %" PRId64 " is %.9g, not %.9g; the sum of magnitudes is %.9g",
                 kernel, kind->name, i, (double)y, want, size(s));
}

static void *room(int64_t bytes) { return aligned_alloc(64, (size_t)(bytes + 4096) / 64 * 64); }

// y is m by n; element (i, j) of a product of the strides in p.
static Sum sum_at(const RtDot *p, const float *a, const float *b, int64_t i, int64_t j)
{
    Sum s = {0};

    for (int64_t k = 0; k < p->k; k++)
        add(&s, (double)a[i * p->a_m + k * p->a_k] * (double)b[k * p->b_k + j * p->b_n]);
    return s;
}

static void judge_product(const char *kernel, const Kind *kind, const RtDot *p, const float *y,
                          const float *a, const float *b)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            Sum s = sum_at(p, a, b, i, j);
            judge(kernel, kind, i * p->n + j, y[i * p->y_m + j * p->y_n], &s, p->k, 1e-6, 1);
        }
}

// ---- micro-kernels ----

static void check_micro(const char *name, const RtMicro *u, const Kind *kind, RtDot p)
{
    Random r = {(uint64_t)(p.m + p.n + p.k)};
    bool is_by_column = u == &rt_micro_columns;
    float *a = operand(&r, kind, p.m * p.k, true), *b = operand(&r, kind, p.k * p.n, false);
    float *y = draw_floats(&r, p.m * p.n);

    p.a_m = is_by_column ? 1 : p.k;
    p.a_k = is_by_column ? p.m : 1;
    p.b_k = p.y_m = p.n;
    p.b_n = p.y_n = 1;
    RtGemm g = {p.m,   p.n,   p.k,   p.a_m,     p.a_k,     p.b_k,
                p.b_n, p.y_m, p.y_n, RT_SLAB_K, RT_SLAB_N, .micro = u};
    void *pack = room(2 * rt_gemm_slab(&g));
    rt_gemm(&g, y, a, b, pack, 1, 0);
    judge_product(name, kind, &p, y, a, b);
    free(pack);
    free(a);
    free(b);
    free(y);
}

static void test_micros(void **state)
{
    static const int64_t sizes[][3] = {{70, 90, 40}, {33, 20, 300}, {5, 16, 650}, {32, 64, 1100}};
    const struct {
        const char *name;
        const RtMicro *micro;
    } list[] = {{"micro_rows", &rt_micro_rows},
                {"micro_columns", &rt_micro_columns},
                {"micro_amx", rt_micro_amx()}};

    for (int l = 0; l < 3; l++)
        for (int i = 0; list[l].micro && i < KINDS * 4; i++) {
            const int64_t *s = sizes[i % 4];
            check_micro(list[l].name, list[l].micro, &kinds[i / 4],
                        (RtDot){.m = s[0], .n = s[1], .k = s[2]});
        }
}

// ---- rt_dot ----

// Computes it with one thread and with two, which must give the same bits.
static void check_dot(const Kind *kind, RtDot p, bool is_transposed)
{
    Random r = {(uint64_t)(p.m + p.n + p.k)};
    int64_t batch = p.batch[0], ny = batch * p.m * p.n;
    float *a = operand(&r, kind, batch * p.m * p.k, true);
    float *b = operand(&r, kind, batch * p.k * p.n, false), *y[2];

    p.type = RT_F32;
    p.n_batch = 1;
    p.a_batch[0] = p.m * p.k;
    p.b_batch[0] = p.k * p.n;
    p.y_batch[0] = p.m * p.n;
    p.a_m = is_transposed ? 1 : p.k;
    p.a_k = is_transposed ? p.m : 1;
    p.b_k = is_transposed ? 1 : p.n;
    p.b_n = is_transposed ? p.k : 1;
    p.y_m = p.n;
    p.y_n = 1;
    for (int t = 0; t < 2; t++) {
        Rt rt = rt_new(t + 1, rt_dot_workspace(&p, t + 1));
        y[t] = draw_floats(&r, ny);
        rt_dot_init(&rt, 1, &p);
        rt_dot(&rt, 1, y[t], a, b);
        rt_delete(&rt);
    }
    for (int64_t i = 0; i < batch; i++)
        judge_product("dot", kind, &p, y[0] + i * p.m * p.n, a + i * p.m * p.k, b + i * p.k * p.n);
    assert_memory_equal(y[0], y[1], sizeof(float) * (size_t)ny);
    free(a);
    free(b);
    free(y[0]);
    free(y[1]);
}

static void test_dot(void **state)
{
    static const int64_t sizes[][4] = {{1, 60, 60, 130}, {40, 9, 11, 33}, {3, 64, 32, 96},
                                       {1, 1, 70, 80},   {2, 70, 1, 80},  {1, 1, 1, 900}};

    for (int i = 0; i < KINDS; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (int t = 0; t < 2; t++)
                check_dot(&kinds[i],
                          (RtDot){.batch = {sizes[j][0]},
                                  .m = sizes[j][1],
                                  .n = sizes[j][2],
                                  .k = sizes[j][3]},
                          t);
}

// ---- convolutions ----

typedef struct Conv {
    float *x, *w, *dy;
    Sum *y, *dx, *dw;
    int64_t nx, nw, ny;
} Conv;

// Adds the products of one position of y, one output channel and one tap.
static void add_tap(const RtConv *p, Conv *t, int64_t n, int64_t o, int64_t i, int64_t k,
                    int64_t position)
{
    int64_t per = p->c / p->groups, group = o / (p->o / p->groups), taps = t->nw / (p->o * per);
    int64_t y = element_at(p->y_last, n, p->o, o, spatial(p, p->y_dim), i);

    for (int64_t c = 0; c < per; c++) {
        int64_t w = (o * per + c) * taps + k;
        if (position < 0) {
            t->y[y].has_padding |= !isfinite(t->w[w]);
            continue;
        }
        int64_t x = element_at(p->x_last, n, p->c, group * per + c, spatial(p, p->x_dim), position);
        add(&t->y[y], (double)t->x[x] * (double)t->w[w]);
        add(&t->dx[x], (double)t->dy[y] * (double)t->w[w]);
        add(&t->dw[w], (double)t->dy[y] * (double)t->x[x]);
    }
}

// A tap at which no position of y lies is padding for dx, where w isn't finite, and for dw, where
// dy isn't.
static void find_padding(Conv *t)
{
    bool has_odd_w = false, has_odd_dy = false;

    for (int64_t i = 0; i < t->nw; i++)
        has_odd_w |= !isfinite(t->w[i]);
    for (int64_t i = 0; i < t->ny; i++)
        has_odd_dy |= !isfinite(t->dy[i]);
    for (int64_t i = 0; i < t->nx; i++)
        t->dx[i].has_padding = has_odd_w;
    for (int64_t i = 0; i < t->nw; i++)
        t->dw[i].has_padding = has_odd_dy;
}

static Conv conv_new(Random *r, const Kind *kind, const RtConv *p)
{
    int64_t taps = spatial(p, p->window.size), positions = spatial(p, p->y_dim);
    int64_t *position = all_under(p);
    Conv t = {.nx = p->n * p->c * spatial(p, p->x_dim),
              .nw = p->o * (p->c / p->groups) * taps,
              .ny = p->n * p->o * positions};

    t.x = operand(r, kind, t.nx, true);
    t.w = operand(r, kind, t.nw, false);
    t.dy = operand(r, kind, t.ny, true);
    t.y = calloc((size_t)t.ny, sizeof *t.y);
    t.dx = calloc((size_t)t.nx, sizeof *t.dx);
    t.dw = calloc((size_t)t.nw, sizeof *t.dw);
    for (int64_t i = 0; i < p->n * p->o * positions * taps; i++)
        add_tap(p, &t, i / taps / positions / p->o, i / taps / positions % p->o,
                i / taps % positions, i % taps, position[i % (positions * taps)]);
    find_padding(&t);
    free(position);
    return t;
}

static void judge_all(const char *kernel, const Kind *kind, const float *y, const Sum *s, int64_t n,
                      int64_t products)
{
    for (int64_t i = 0; i < n; i++)
        judge(kernel, kind, i, y[i], &s[i], products, 4e-6, 1);
}

static void check_conv(const Kind *kind, const RtConv *p)
{
    Random r = {(uint64_t)p->c};
    Conv t = conv_new(&r, kind, p);
    Rt rt = rt_new(1, rt_conv_workspace(p));
    float *y = draw_floats(&r, t.ny), *dx = draw_floats(&r, t.nx), *dw = draw_floats(&r, t.nw);

    rt_conv_init(&rt, 1, p);
    rt_conv_input_grad_init(&rt, 2, p);
    rt_conv_weight_grad_init(&rt, 3, p);
    rt_conv(&rt, 1, y, t.x, t.w);
    rt_conv_input_grad(&rt, 2, dx, t.dy, t.w);
    rt_conv_weight_grad(&rt, 3, dw, t.x, t.dy);
    judge_all("conv", kind, y, t.y, t.ny, t.nw / p->o);
    judge_all("conv_input_grad", kind, dx, t.dx, t.nx, t.nw / p->c);
    judge_all("conv_weight_grad", kind, dw, t.dw, t.nw, t.ny / p->o);
    rt_delete(&rt);
    void *all[] = {t.x, t.w, t.dy, t.y, t.dx, t.dw, y, dx, dw};
    for (int i = 0; i < 9; i++)
        free(all[i]);
}

static void test_conv(void **state)
{
    // n, c, o, groups, size, channels last: as products of matrices, those of weights' gradients,
    // depthwise ones, and others
    static const int64_t forms[][6] = {
        {1, 32, 32, 1, 3, true}, {1, 96, 100, 1, 1, true}, {2, 75, 20, 1, 1, true},
        {1, 32, 32, 1, 2, true}, {1, 20, 20, 20, 5, true}, {1, 19, 19, 19, 3, true},
        {1, 9, 21, 1, 3, true},  {1, 9, 21, 1, 3, false},  {1, 8, 16, 2, 3, false}};

    for (int i = 0; i < KINDS; i++)
        for (size_t j = 0; j < sizeof forms / sizeof *forms; j++) {
            const int64_t *f = forms[j];
            RtConv p = {.n = f[0], .c = f[1], .o = f[2], .groups = f[3], .x_last = f[5]};
            p.y_last = p.x_last;
            p.window.n = 2;
            for (int k = 0; k < 2; k++) {
                p.window.size[k] = f[4];
                p.window.stride[k] = p.window.dilation[k] = 1;
                p.window.low[k] = p.window.high[k] = f[4] / 2;
                p.x_dim[k] = 5 + k;
                p.y_dim[k] = p.x_dim[k] + 2 * p.window.low[k] - f[4] + 1;
            }
            check_conv(&kinds[i], &p);
        }
}

// ---- attention ----

enum { S = 40, T = 70, E = 8, F = 24 };

typedef struct Attention {
    float *q, *k, *v, *dy;
    double p[S][T], weight[S];  // probabilities, and their sums before they are divided by them
    Sum y[S * F], dq[S * E], dk[T * E], dv[T * F];
    bool is_ordinary;  // no infinity, no NaN and nothing near the largest numbers in dp
} Attention;

static void probabilities(Attention *t)
{
    for (int s = 0; s < S; s++) {
        double score[T], most = -INFINITY;

        for (int j = 0; j < T; j++) {
            score[j] = 0;
            for (int e = 0; e < E; e++)
                score[j] += (double)t->q[s * E + e] * (double)t->k[j * E + e];
            most = fmax(most, score[j]);
        }
        for (int j = 0; j < T; j++)
            t->weight[s] += exp(score[j] - most);
        for (int j = 0; j < T; j++)
            t->p[s][j] = exp(score[j] - most) / t->weight[s];
    }
}

// Adds a product whose factor is the difference of larger numbers, which counts as their size.
static void add_inexact(Sum *s, double factor, double more, double x)
{
    add(s, factor * x);
    s->plus += more / 2 * fabs(x);
    s->minus += more / 2 * fabs(x);
}

// The results: y = p v, dv = p' dy, dq = ds k and dk = ds' q with ds = p (dy v' - dy y).
static void attend(Attention *t)
{
    probabilities(t);
    t->is_ordinary = true;
    for (int s = 0; s < S; s++) {
        Sum d = {0};

        for (int i = 0; i < T * F; i++) {
            add(&t->y[s * F + i % F], t->p[s][i / F] * (double)t->v[i]);
            add(&t->dv[i], t->p[s][i / F] * (double)t->dy[s * F + i % F]);
        }
        for (int f = 0; f < F; f++)
            add(&d, (double)t->dy[s * F + f] * value(&t->y[s * F + f]));
        for (int j = 0; j < T; j++) {
            Sum dp = {0};
            for (int f = 0; f < F; f++)
                add(&dp, (double)t->dy[s * F + f] * (double)t->v[j * F + f]);
            t->is_ordinary &= size(&dp) < (double)BIG / 2;
            double ds = t->p[s][j] * (value(&dp) - value(&d));
            double error = t->p[s][j] * (size(&dp) + size(&d)) - fabs(ds);
            for (int e = 0; e < E; e++) {
                add_inexact(&t->dq[s * E + e], ds, error, (double)t->k[j * E + e]);
                add_inexact(&t->dk[j * E + e], ds, error, (double)t->q[s * E + e]);
            }
        }
    }
}

// Sums of values are divided by the sum of weights in the end, so they may overflow before.
static void judge_attention(const Kind *kind, const Attention *t, const float *y, const float *dq,
                            const float *dk, const float *dv)
{
    enum { ERROR = 4 };  // of a probability, whose error is that of a score, in millionths
    double error = ERROR * 1e-6;
    bool is_ordinary = t->is_ordinary;

    for (int i = 0; i < S * F; i++) {
        judge("attention, y", kind, i, y[i], &t->y[i], T, error, t->weight[i / F]);
        is_ordinary &= isfinite(y[i]) != 0;
    }
    for (int i = 0; i < T * F; i++)
        judge("attention, dv", kind, i, dv[i], &t->dv[i], S, error, 1);
    for (int i = 0; is_ordinary && i < S * E; i++)
        judge("attention, dq", kind, i, dq[i], &t->dq[i], T * F, error, 1);
    for (int i = 0; is_ordinary && i < T * E; i++)
        judge("attention, dk", kind, i, dk[i], &t->dk[i], S * F, error, 1);
}

static void check_attention(const Kind *kind)
{
    static const Kind common = {.a = 1, .b = 1};
    const Kind *scores = kind->rare || kind->spread || kind->a * kind->b > 1 ? &common : kind;
    RtAttention p = {.s = S, .t = T, .e = E, .f = F, .scale = 1};
    char *workspace = malloc((size_t)rt_attention_workspace(&p, 1));
    Rt rt = {.threads = 1, .workspace = workspace};
    Random r = {7};
    float y[S * F], max[S], sum[S], dq[S * E], dk[T * E], dv[T * F];
    Attention *t = calloc(1, sizeof *t);

    t->q = operand(&r, scores, S * E, true);
    t->k = operand(&r, scores, T * E, false);
    t->v = operand(&r, kind, T * F, true);
    t->dy = operand(&r, kind, S * F, false);
    attend(t);
    p.q = p.k = p.dq = p.dk = (RtStrides){.row = E, .col = 1};
    p.v = p.y = p.dy = p.dv = (RtStrides){.row = F, .col = 1};
    p.max.row = p.sum.row = 1;
    rt_attention(&rt, &p, y, max, sum, t->q, t->k, t->v, NULL, NULL, NULL, NULL);
    rt_attention_grad(&rt, &p, dq, dk, dv, t->q, t->k, t->v, NULL, NULL, NULL, NULL, y, max, sum,
                      t->dy);
    judge_attention(kind, t, y, dq, dk, dv);
    free(t->q);
    free(t->k);
    free(t->v);
    free(t->dy);
    free(t);
    free(workspace);
}

static void test_attention(void **state)
{
    for (int i = 0; i < KINDS; i++)
        check_attention(&kinds[i]);
}

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_micros),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_attention),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
