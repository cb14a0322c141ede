// Identities: simpler values of operators whose operands are 0, 1, -inf, casts or choices.
#include "ir/passes/fold/fold.h"

#include <math.h>

static bool is_number(Folder *f, ValueId v, double x)
{
    double splat;

    return fact_splat(f, v, &splat) && splat == x;
}

static bool is_float(const Folder *f, const Node *n)
{
    return dtype_is_float(in(f->g, n, 0)->dtype);
}

static const Node *made_by(const Folder *f, ValueId v, const OpDef *op)
{
    const Node *n = producer(f->g, v);

    return n->op == op ? n : NULL;
}

// ---- one operand ----

static ValueId fold_neg(Folder *f, const Node *n)
{
    const Node *x = made_by(f, n->in[0], &op_neg);

    return x ? x->in[0] : 0;
}

static ValueId fold_not(Folder *f, const Node *n)
{
    const Node *x = made_by(f, n->in[0], &op_not);

    if (x)
        return x->in[0];
    x = producer(f->g, n->in[0]);
    if ((x->op != &op_lt && x->op != &op_le) || dtype_is_float(in(f->g, x, 0)->dtype))
        return 0;  // for a NaN, neither a < b nor b <= a is true
    ValueId a = x->in[0], b = x->in[1];
    return fold_value(f, x->op == &op_lt ? make_le(f->g, b, a) : make_lt(f->g, b, a));
}

// A cast to a wider dtype and then to another one is one cast; back to the first dtype it is none.
static ValueId fold_cast(Folder *f, const Node *n)
{
    const Node *x = made_by(f, n->in[0], &op_cast);
    DType to = out(f->g, n)->dtype;

    if (in(f->g, n, 0)->dtype == to)
        return n->in[0];
    if (!x || !dtype_is_within(in(f->g, x, 0)->dtype, out(f->g, x)->dtype))
        return 0;
    return fold_value(f, make_cast(f->g, x->in[0], to));
}

// ---- two operands ----

static ValueId fold_add(Folder *f, const Node *n)
{
    if (is_number(f, n->in[0], 0))
        return n->in[1];
    return is_number(f, n->in[1], 0) ? n->in[0] : fold_minus_one(f, n);
}

static ValueId fold_sub(Folder *f, const Node *n)
{
    if (is_number(f, n->in[1], 0))
        return n->in[0];
    return is_number(f, n->in[0], 0) ? fold_value(f, make_neg(f->g, n->in[1]))
                                     : fold_minus_one(f, n);
}

static ValueId fold_mul(Folder *f, const Node *n)
{
    for (int i = 0; i < 2; i++) {
        if (is_number(f, n->in[i], 1))
            return n->in[1 - i];
        if (is_number(f, n->in[i], 0) && !is_float(f, n))
            return n->in[i];
    }
    return 0;
}

// Division by a power of two becomes a product, which has the same bits.
static ValueId fold_div(Folder *f, const Node *n)
{
    double x;
    int e;

    if (!fact_splat(f, n->in[1], &x))
        return 0;
    if (x == 1)
        return n->in[0];
    if (!is_float(f, n) || x == 0 || !isfinite(x) || fabs(frexp(x, &e)) != 0.5 || e > 30 || e < -30)
        return 0;
    ValueId inverse = fold_value(f, scalar_like(f->g, n->in[1], 1 / x));
    return fold_value(f, make_mul(f->g, n->in[0], inverse));
}

static ValueId fold_pow(Folder *f, const Node *n)
{
    if (is_number(f, n->in[1], 1))
        return n->in[0];
    if (is_number(f, n->in[1], 2))
        return fold_value(f, make_mul(f->g, n->in[0], n->in[0]));
    if (is_number(f, n->in[1], 0.5))
        return fold_value(f, make_sqrt(f->g, n->in[0]));
    return 0;
}

// max(x, -inf) and min(x, inf) are x.
static ValueId fold_extremum(Folder *f, const Node *n)
{
    double never = n->op == &op_max ? -(double)INFINITY : (double)INFINITY;

    for (int i = 0; i < 2; i++)
        if (is_number(f, n->in[i], never))
            return n->in[1 - i];
    return n->in[0] == n->in[1] ? n->in[0] : 0;
}

static ValueId fold_logical(Folder *f, const Node *n)
{
    double neutral = n->op == &op_and;

    for (int i = 0; i < 2; i++) {
        if (is_number(f, n->in[i], neutral))
            return n->in[1 - i];
        if (is_number(f, n->in[i], 1 - neutral))
            return n->in[i];
    }
    return n->in[0] == n->in[1] ? n->in[0] : 0;
}

// A BOOL value compared with a constant is the value itself or its opposite.
static ValueId fold_eq(Folder *f, const Node *n)
{
    for (int i = 0; i < 2; i++) {
        if (in(f->g, n, 0)->dtype != BOOL)
            break;
        if (is_number(f, n->in[i], 1))
            return n->in[1 - i];
        if (is_number(f, n->in[i], 0))
            return fold_value(f, make_not(f->g, n->in[1 - i]));
    }
    return 0;
}

static ValueId fold_select(Folder *f, const Node *n)
{
    const Node *opposite = made_by(f, n->in[0], &op_not);
    double c, a, b;

    if (fact_splat(f, n->in[0], &c))
        return n->in[c != 0 ? 1 : 2];
    if (n->in[1] == n->in[2])
        return n->in[1];
    if (opposite)
        return fold_value(f, make_select(f->g, opposite->in[0], n->in[2], n->in[1]));
    if (out(f->g, n)->dtype != BOOL || !fact_splat(f, n->in[1], &a) || !fact_splat(f, n->in[2], &b))
        return 0;
    return a != 0 ? n->in[0] : fold_value(f, make_not(f->g, n->in[0]));
}

// ---- choices between two numbers ----

// A value that is `yes` where `mask` holds and `no` elsewhere.
typedef struct Choice {
    ValueId mask;  // 0: `yes` everywhere
    double yes, no;
} Choice;

static bool read_choice(Folder *f, ValueId v, Choice *c)
{
    const Node *n = producer(f->g, v);

    *c = (Choice){0};
    if (fact_splat(f, v, &c->yes))
        return true;
    if (n->op == &op_cast && in(f->g, n, 0)->dtype == BOOL) {
        *c = (Choice){n->in[0], 1, 0};
        return true;
    }
    if (n->op != &op_select)
        return false;
    c->mask = n->in[0];
    return fact_splat(f, n->in[1], &c->yes) && fact_splat(f, n->in[2], &c->no);
}

// Arithmetic on a choice becomes a choice: (1 - cast(mask)) · -1e9 chooses between 0 and -1e9.
static ValueId fold_choice(Folder *f, const Node *n)
{
    ValueId yes[2], no[2];
    Choice c[2] = {0};

    if (!n->op->is_elementwise || n->n_in > 2 || out(f->g, n)->dtype == BOOL)
        return 0;
    for (int i = 0; i < n->n_in; i++)
        if (!read_choice(f, n->in[i], &c[i]))
            return 0;
    ValueId mask = c[0].mask ? c[0].mask : c[1].mask;
    if (!mask || (c[0].mask && c[1].mask) || (n->op == &op_cast && in(f->g, n, 0)->dtype == BOOL))
        return 0;
    for (int i = 0; i < n->n_in; i++) {
        yes[i] = fold_value(f, scalar_like(f->g, n->in[i], c[i].yes));
        no[i] = c[i].mask ? fold_value(f, scalar_like(f->g, n->in[i], c[i].no)) : yes[i];
    }
    ValueId a = fold_value(f, graph_node(f->g, n->op, n->n_in, yes, n->attr));
    ValueId b = fold_value(f, graph_node(f->g, n->op, n->n_in, no, n->attr));
    return fold_value(f, make_select(f->g, mask, a, b));
}

// ---- reductions ----

// A reduction over one element stays up to the pass `simplify`: patterns know softmaxes by theirs.
static ValueId fold_reduce(Folder *f, const Node *n)
{
    Value x = *in(f->g, n, 0), y = *out(f->g, n);

    for (int i = 0; i < n->attr[0].n; i++)
        if (!f->is_simplify || x.dim[n->attr[0].v[i]] != 1)
            return 0;
    return n->attr[0].n ? fold_value(f, make_reshape(f->g, n->in[0], y.rank, y.dim)) : n->in[0];
}

// ---- all of them ----

static const struct {
    const OpDef *op;
    ValueId (*fold)(Folder *f, const Node *n);
} rules[] = {
    {&op_neg, fold_neg},
    {&op_not, fold_not},
    {&op_cast, fold_cast},
    {&op_log, fold_log},
    {&op_log1p, fold_log1p},
    {&op_add, fold_add},
    {&op_sub, fold_sub},
    {&op_mul, fold_mul},
    {&op_div, fold_div},
    {&op_pow, fold_pow},
    {&op_max, fold_extremum},
    {&op_min, fold_extremum},
    {&op_and, fold_logical},
    {&op_or, fold_logical},
    {&op_eq, fold_eq},
    {&op_select, fold_select},
    {&op_reduce_sum, fold_reduce},
    {&op_reduce_max, fold_reduce},
    {&op_reduce_min, fold_reduce},
    {&op_reshape, fold_reshape},
    {&op_transpose, fold_transpose},
    {&op_broadcast, fold_broadcast},
    {&op_slice, fold_slice},
    {&op_pad, fold_pad},
    {&op_concat, fold_concat},
    {&op_gather, fold_gather},
    {&op_dot, fold_dot},
};

ValueId fold_identity(Folder *f, const Node *n)
{
    for (int i = 0; i < COUNT(rules); i++) {
        if (rules[i].op != n->op)
            continue;
        ValueId v = rules[i].fold(f, n);
        if (v)
            return v;
    }
    return fold_choice(f, n);
}
