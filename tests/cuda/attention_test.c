// Attention and its gradient on GPUs against the CPU's, of halves against those in f32: masks and
// their numbers, limits, groups, layouts, dropout.
#include <float.h>

#include "tests/cuda/both.h"
#include "tests/runtime/halves.h"

CALL_BOTH(attention, p, o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9])
CALL_BOTH(attention_grad, p, o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10],
          o[11], o[12], o[13])

// Strides of an operand with dims [batch, group, rows, columns]; without groups for keys and
// values. Returns its elements.
static int64_t layout(Random *r, const RtAttention *p, RtStrides *s, bool has_groups, int64_t rows,
                      int64_t columns)
{
    int64_t dim[2 * RT_MAX_BATCH + 2], *stride[2 * RT_MAX_BATCH + 2];
    int n = 0;

    for (int i = 0; i < p->n_batch; i++) {
        dim[n] = p->batch[i];
        stride[n++] = &s->batch[i];
    }
    for (int i = 0; i < p->n_group && has_groups; i++) {
        dim[n] = p->group[i];
        stride[n++] = &s->group[i];
    }
    dim[n] = rows;
    stride[n++] = &s->row;
    dim[n] = draw(r, 4) ? columns : rt_round_up(columns, 8);  // rows may begin at 16 bytes
    stride[n++] = &s->col;
    return draw_strides(r, n, dim, stride);
}

// max and sum are dense, without columns.
static int64_t layout_rows(const RtAttention *p, RtStrides *s)
{
    int64_t n = p->s;

    s->row = 1;
    for (int i = p->n_group - 1; i >= 0; i--) {
        s->group[i] = n;
        n *= p->group[i];
    }
    for (int i = p->n_batch - 1; i >= 0; i--) {
        s->batch[i] = n;
        n *= p->batch[i];
    }
    return n;
}

// Numbers of scores that masks hide: near others, so low that only rows without a key tell, or
// -inf. What is added is small, or leaves nothing of a score: else its last bit would decide how
// the sum is rounded.
static void draw_numbers(Random *r, RtAttention *p)
{
    enum { N = 5 };
    static const float numbers[N] = {0, -2, -3, -1e9f, -FLT_MAX};

    p->bool_bias = p->bool_bias && p->has_bias;
    p->outside = p->causal ? numbers[draw(r, N)] : 0;
    p->hidden = p->bool_bias ? numbers[draw(r, N)] : 0;
    p->outside_added = p->outside != 0 && draw(r, 2);
    p->hidden_added = p->hidden != 0 && draw(r, 2);
    p->order = p->causal && p->has_bias ? (int)draw(r, 2) : RT_LIMITS_LAST;
    p->guard = (int)draw(r, 3);
    if (p->causal && p->bool_bias && draw(r, 4) == 0) {
        p->hidden = p->outside;
        p->hidden_added = p->outside_added;
        p->order = RT_MASKED_ONCE;
    }
}

static RtAttention draw_attention(Random *r)
{
    RtAttention p = {.n_batch = (int)draw(r, 3),
                     .n_group = (int)draw(r, 2),
                     .batch = {1 + draw(r, 2), 1 + draw(r, 2)},
                     .group = {1 + draw(r, 3)},
                     .s = 1 + draw(r, 90),
                     .t = 1 + draw(r, 140),
                     .e = 1 + draw(r, 30),
                     .f = 1 + draw(r, 30),
                     .causal = draw(r, 2),
                     .has_bias = draw(r, 2),
                     .bool_bias = draw(r, 2),
                     .drops = draw(r, 2),
                     .scale = 0.7f,
                     .rate = 0.3f,
                     .site = draw(r, 5),
                     .layer = draw(r, 5),
                     .micro_step = 1000,
                     .drop_at = draw(r, 7)};

    if (draw(r, 5) == 0)
        p.e = 60 + draw(r, 140);
    if (draw(r, 4) == 0)
        p.f = 60 + draw(r, 140);
    if (draw(r, 8) == 0)
        p.s = 100 + draw(r, 60);
    if (draw(r, 3) == 0) {  // no word at a row's end is cut
        p.e = rt_round_up(p.e, 8);
        p.f = rt_round_up(p.f, 8);
    }
    if (p.causal) {
        p.offset = draw(r, 3) ? p.t - p.s : draw(r, 60) - 20;
        p.window = draw(r, 2) ? 0 : 1 + draw(r, 80);
    }
    draw_numbers(r, &p);
    return p;
}

typedef struct Tensors {
    Operand q, k, v, bias, seed, step, micro, y, max, sum, dy, dq, dk, dv;
} Tensors;

static Operand draw_operand(Random *r, RtType t, int64_t n, double limit)
{
    RtType type = t == RT_NONE ? RT_F32 : t;

    return (Operand){draw_elements(r, type, n, false), n * rt_type_bytes(type), limit != 0, type,
                     limit};
}

static Operand scalar(int64_t x, bool is_there)
{
    int64_t *p = malloc(sizeof *p);

    *p = x;
    if (!is_there) {
        free(p);
        p = NULL;
    }
    return (Operand){p, 8, false, RT_I64, 0};
}

// Some masked keys, and a bias of -inf where it isn't of bools.
static Operand draw_bias(Random *r, const RtAttention *p, int64_t n)
{
    Operand o = draw_operand(r, RT_F32, n, 0);

    o.bytes = p->bool_bias ? n : 4 * n;
    for (int64_t i = 0; i < n; i++)
        if (p->bool_bias)
            ((uint8_t *)(void *)o.data)[i] = draw(r, 4) != 0;
        else if (draw(r, 6) == 0)
            ((float *)(void *)o.data)[i] = -INFINITY;
    if (!p->has_bias) {
        free((void *)o.data);
        o.data = NULL;
    }
    return o;
}

// The growth of a limit on tensor cores, which round weights and ds to halves before they multiply
// them: so many units in the last place of a number in [1/2, 1). Weights sum up to 1, ds to about
// the root of the values' columns, and errors have both signs: of all that is drawn here, no result
// is off by more than 0.39 units, and no gradient by more than 0.39 times that root.
static double rounding(RtType t, double units)
{
    return t == RT_BF16 ? units * 0x1p-8 : t == RT_F16 ? units * 0x1p-11 : 0;
}

static Tensors draw_tensors(Random *r, RtAttention *p)
{
    double limit = 3e-5 + rounding(p->type, 0.5 * sqrt(1 + (double)p->f));
    Tensors t;

    t.q = draw_operand(r, p->type, layout(r, p, &p->q, true, p->s, p->e), 0);
    t.k = draw_operand(r, p->type, layout(r, p, &p->k, false, p->t, p->e), 0);
    t.v = draw_operand(r, p->type, layout(r, p, &p->v, false, p->t, p->f), 0);
    t.y = draw_operand(r, p->type, layout(r, p, &p->y, true, p->s, p->f),
                       3e-6 + rounding(p->type, 0.5));
    t.dy = draw_operand(r, p->type, layout(r, p, &p->dy, true, p->s, p->f), 0);
    t.dq = draw_operand(r, p->type, layout(r, p, &p->dq, true, p->s, p->e), limit);
    t.dk = draw_operand(r, p->type, layout(r, p, &p->dk, false, p->t, p->e), limit);
    t.dv = draw_operand(r, p->type, layout(r, p, &p->dv, false, p->t, p->f), limit);
    t.max = draw_operand(r, RT_F32, layout_rows(p, &p->max), 3e-6);
    t.sum = draw_operand(r, RT_F32, layout_rows(p, &p->sum), 4e-4);  // up to 140 weights, 3e-6 each
    t.bias = draw_bias(r, p, layout(r, p, &p->bias, true, p->s, p->t));
    if (draw(r, 3) == 0)
        p->bias.row = 0;
    layout(r, p, &p->drop, true, p->s, p->t);
    if (draw(r, 3)) {
        p->drop.col = 1;
        p->drop.row = p->t + draw(r, 2);
    }
    t.seed = scalar(77, p->drops);
    t.step = scalar(5, p->drops);
    t.micro = scalar(2, p->drops);
    return t;
}

// The gradient's y, max and sum are those that the CPU's forward kernel gives, y rounded.
static void run_forward(const RtAttention *wide, Tensors *t)
{
    Rt rt = rt_new(1, rt_attention_workspace(wide, 1));
    float *y = widen(&t->y), *q = widen(&t->q), *k = widen(&t->k), *v = widen(&t->v);
    int64_t n = t->y.bytes / rt_type_bytes(t->y.type);

    rt_attention(&rt, wide, y, (void *)t->max.data, (void *)t->sum.data, q, k, v, t->bias.data,
                 t->seed.data, t->step.data, t->micro.data);
    for (int64_t i = 0; i < n; i++)
        set_element(t->y.type, (void *)t->y.data, i, y[i]);
    free(y);
    free(q);
    free(k);
    free(v);
    rt_delete(&rt);
    t->y.is_result = t->max.is_result = t->sum.is_result = false;
}

static void check(const RtAttention *p, Tensors *t)
{
    RtAttention wide = *p;
    Operand forward[] = {t->y, t->max,  t->sum,  t->q,    t->k,
                         t->v, t->bias, t->seed, t->step, t->micro};

    wide.type = RT_NONE;
    int64_t cpu = rt_attention_workspace(&wide, 1), cuda = rt_cuda_attention_workspace(p);
    CHECK_HALVES(attention, &wide, p, forward, 10, cpu, cuda);
    run_forward(&wide, t);
    Operand grad[] = {t->dq,   t->dk,   t->dv,    t->q, t->k,   t->v,   t->bias,
                      t->seed, t->step, t->micro, t->y, t->max, t->sum, t->dy};
    CHECK_HALVES(attention_grad, &wide, p, grad, 14, cpu, cuda);
    for (int i = 0; i < 14; i++)
        free((void *)grad[i].data);
}

static const RtType types[] = {RT_NONE, RT_BF16, RT_F16};
enum { TYPES = sizeof types / sizeof *types };

static void test_attention(void **state)
{
    Random r = {1};

    for (int i = 0; i < 48; i++) {
        RtAttention p = draw_attention(&r);
        p.type = types[i % TYPES];
        Tensors t = draw_tensors(&r, &p);
        check(&p, &t);
    }
}

// Query and key i have one large element, number i.
static void set_diagonal(const Operand *o, const RtStrides *s, int64_t n)
{
    void *x = (void *)(uintptr_t)o->data;

    memset(x, 0, (size_t)o->bytes);
    for (int64_t i = 0; i < n; i++)
        set_element(o->type, x, i * s->row + i * s->col, 1000);
}

// Each query has chosen one key, so that q and k have no gradient: dy v - D is 0 only if the two
// round alike, and is multiplied by keys and queries of any size.
static void test_chosen_keys(void **state)
{
    enum { N = 40 };
    Random r = {2};

    for (int64_t width = 1; width < 70; width += 5) {
        RtType type = types[width / 5 % TYPES];
        RtAttention p = {.s = N, .t = N, .e = N, .f = width, .scale = 1, .type = type};
        Tensors t = draw_tensors(&r, &p);
        void *v = (void *)(uintptr_t)t.v.data;
        set_diagonal(&t.q, &p.q, N);
        set_diagonal(&t.k, &p.k, N);
        for (int64_t i = 0; i < t.v.bytes / rt_type_bytes(t.v.type); i++)
            set_element(t.v.type, v, i, 3e4f * element(t.v.type, v, i));
        t.dq.limit = t.dk.limit = 1e-9;
        check(&p, &t);
    }
}

// The first queries and the last ones see no key, where fragments have queries of both kinds: with
// each guard, and with a number for keys outside of the limits.
static void test_lost_rows(void **state)
{
    Random r = {3};

    for (int i = 0; i < 4 * TYPES; i++) {
        RtAttention p = {.s = 45,
                         .t = 20,
                         .e = 16,
                         .f = 16,
                         .causal = true,
                         .offset = -5,
                         .window = 3,
                         .scale = 0.5f,
                         .guard = i / TYPES % 3,
                         .outside = i / TYPES == 3 ? -2 : 0,
                         .type = types[i % TYPES]};
        Tensors t = draw_tensors(&r, &p);
        check(&p, &t);
    }
}

// Sets a column's elements.
static void set_column(const Operand *o, const RtStrides *s, int64_t rows, int64_t column, float x)
{
    for (int64_t i = 0; i < rows; i++)
        set_element(o->type, (void *)(uintptr_t)o->data, i * s->row + column * s->col, x);
}

// A key outside of the limits has the largest score, in tiles of keys that only queries need which
// aren't settled: by its products, or by its bias. Those within the limits are large too, so that
// the number of the mask alone wouldn't tell.
static void test_largest_outside(void **state)
{
    enum { N = 160, E = 8, LARGEST = 150 };
    Random r = {4};

    for (int i = 0; i < 2 * TYPES; i++) {
        bool has_bias = i / TYPES;
        RtAttention p = {.s = N,
                         .t = N,
                         .e = E,
                         .f = E,
                         .causal = true,
                         .scale = 1,
                         .outside = -2,
                         .outside_added = true,
                         .has_bias = has_bias,
                         .order = has_bias ? RT_LIMITS_FIRST : RT_LIMITS_LAST,
                         .type = types[i % TYPES]};
        Tensors t = draw_tensors(&r, &p);
        memset((void *)(uintptr_t)t.q.data, 0, (size_t)t.q.bytes);
        set_column(&t.q, &p.q, N, 0, has_bias ? 0 : 1000);
        set_column(&t.k, &p.k, N, 0, 1);
        set_element(t.k.type, (void *)(uintptr_t)t.k.data, LARGEST * p.k.row, 1000);
        for (int64_t key = 0; has_bias && key < N; key++)
            set_column(&t.bias, &p.bias, N, key, key == LARGEST ? 300 : 100);
        check(&p, &t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention), cmocka_unit_test(test_chosen_keys),
        cmocka_unit_test(test_lost_rows), cmocka_unit_test(test_largest_outside)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_attention");
}
