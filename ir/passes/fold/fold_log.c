// Rules for logarithms and exponentials whose plain form loses digits or overflows. Exporters write
// log1p(x) as log(1 + x), expm1(x) as exp(x) - 1, logsigmoid(x) as log(sigmoid(x)); models write
// log(softmax(x)), log(1 + exp(x)), log(exp(a) + exp(b)) and log(Σ exp(x)). Each becomes a form
// that is exact where the plain one rounds 1 + x, and finite where exp(x) is 0 or infinite.
#include <string.h>

#include "ir/operator/operator.h"
#include "ir/passes/fold/fold.h"

// The node that makes v if its operator is `op`, else NULL.
static const Node *made_by(const Folder *f, ValueId v, const OpDef *op)
{
    const Node *n = producer(f->g, v);

    return n->op == op ? n : NULL;
}

static bool is_number(Folder *f, ValueId v, double x)
{
    double splat;

    return fact_splat(f, v, &splat) && splat == x;
}

// v, or 0 if a carry overwrites it: its new reader might come too late.
static ValueId readable(const Folder *f, ValueId v) { return is_carried(f, v) ? 0 : v; }

// The other operand of n if one is the number x; 0: none is.
static ValueId other_than(Folder *f, const Node *n, double x)
{
    for (int i = 0; i < 2; i++)
        if (is_number(f, n->in[i], x))
            return readable(f, n->in[1 - i]);
    return 0;
}

// The other operand of v = `op` of it and the number x, in any order; 0: v is none.
static ValueId with_number(Folder *f, ValueId v, const OpDef *op, double x)
{
    const Node *n = made_by(f, v, op);

    return n ? other_than(f, n, x) : 0;
}

// The exponent of v = exp(…); 0: v is none.
static ValueId exponent_of(const Folder *f, ValueId v)
{
    const Node *n = made_by(f, v, &op_exp);

    return n ? readable(f, n->in[0]) : 0;
}

// Builders whose nodes are shared and simplified like those of the model.

static ValueId negated(Folder *f, ValueId x) { return fold_value(f, make_neg(f->g, x)); }

static ValueId difference(Folder *f, ValueId a, ValueId b)
{
    return fold_value(f, make_sub(f->g, a, b));
}

// x where v = sigmoid(x), as make_sigmoid writes it: 1/2 + 1/2 tanh(1/2 x); 0: v is none.
static ValueId sigmoid_of(Folder *f, ValueId v)
{
    ValueId scaled = with_number(f, v, &op_add, 0.5);
    ValueId bent = scaled ? with_number(f, scaled, &op_mul, 0.5) : 0;
    const Node *tanh = bent ? made_by(f, bent, &op_tanh) : NULL;

    return tanh ? with_number(f, tanh->in[0], &op_mul, 0.5) : 0;
}

// log v. The logarithm of a broadcast value is taken before the broadcast.
static ValueId log_of(Folder *f, ValueId v)
{
    const Node *spread = made_by(f, v, &op_broadcast);
    Attr attr[MAX_ATTRS];

    if (!spread || !readable(f, spread->in[0]))
        return fold_value(f, make_log(f->g, v));
    memcpy(attr, spread->attr, sizeof attr);
    ValueId y = fold_value(f, make_log(f->g, spread->in[0]));
    return fold_value(f, graph_node(f->g, &op_broadcast, 1, &y, attr));
}

// s where v = 1 / s; 0: v is none.
static ValueId reciprocal_of(Folder *f, ValueId v)
{
    const Node *n = made_by(f, v, &op_div);

    return n && is_number(f, n->in[0], 1) ? readable(f, n->in[1]) : 0;
}

// log(exp(x) / s) = x - log s, and log(1 / s) = -log s.
static ValueId log_of_quotient(Folder *f, const Node *n)
{
    ValueId x = exponent_of(f, n->in[0]), s = readable(f, n->in[1]);

    if (is_number(f, n->in[0], 1))
        return s ? negated(f, log_of(f, s)) : 0;
    return x && s ? difference(f, x, log_of(f, s)) : 0;
}

// log(exp(x) · r), where r is a broadcast of 1 / s: x - log s.
static ValueId log_of_product(Folder *f, const Node *n)
{
    for (int i = 0; i < 2; i++) {
        ValueId x = exponent_of(f, n->in[i]);
        Node spread = *producer(f->g, n->in[1 - i]);
        ValueId s = x && spread.op == &op_broadcast ? reciprocal_of(f, spread.in[0]) : 0;
        if (!s)
            continue;
        ValueId total = log_of(f, s);
        return difference(f, x,
                          fold_value(f, graph_node(f->g, &op_broadcast, 1, &total, spread.attr)));
    }
    return 0;
}

// log Σ exp(x), where x isn't less its largest yet.
static ValueId log_of_sum(Folder *f, const Node *n)
{
    ValueId x = exponent_of(f, n->in[0]);

    if (!x || value_is_shifted(f->g, x))
        return 0;
    return make_log_sum_exp(f->g, x, n->attr[REDUCE_AXES].n, n->attr[REDUCE_AXES].v);
}

// log(exp(a) + exp(b)) = max(a, b) + log1p(exp(-|a - b|)). Equal ones have the difference 0, even
// if they are infinite.
static ValueId log_of_two(Folder *f, ValueId a, ValueId b)
{
    Graph *g = f->g;

    if (!a || !b)
        return 0;
    ValueId distance = make_select(g, make_eq(g, a, b), scalar_like(g, a, 0), make_sub(g, a, b));
    ValueId e = make_exp(g, make_neg(g, make_abs(g, distance)));
    return make_add(g, make_max(g, a, b), make_log1p(g, e));
}

ValueId fold_log(Folder *f, const Node *n)
{
    ValueId v = n->in[0], x;
    Node of = *producer(f->g, v);

    if (of.op == &op_div)
        return log_of_quotient(f, &of);
    if (of.op == &op_mul)
        return log_of_product(f, &of);
    if (of.op == &op_reduce_sum)
        return log_of_sum(f, &of);
    if ((x = sigmoid_of(f, v)))
        return negated(f, make_softplus(f->g, negated(f, x)));
    if (of.op == &op_add && (x = other_than(f, &of, 1)))
        return exponent_of(f, x) ? make_softplus(f->g, exponent_of(f, x))
                                 : fold_value(f, make_log1p(f->g, x));
    if (of.op == &op_add)
        return log_of_two(f, exponent_of(f, of.in[0]), exponent_of(f, of.in[1]));
    if (of.op != &op_sub || !is_number(f, of.in[0], 1))
        return 0;
    if ((x = sigmoid_of(f, of.in[1])))  // 1 - sigmoid(x) = sigmoid(-x)
        return negated(f, make_softplus(f->g, x));
    return fold_value(f, make_log1p(f->g, negated(f, of.in[1])));
}

// log1p(exp(x)) is softplus.
ValueId fold_log1p(Folder *f, const Node *n)
{
    ValueId x = exponent_of(f, n->in[0]);

    return x && !value_is_low(f->g, x) ? make_softplus(f->g, x) : 0;
}

ValueId fold_minus_one(Folder *f, const Node *n)
{
    ValueId x;

    if (n->op == &op_add)
        x = other_than(f, n, -1);
    else
        x = is_number(f, n->in[1], 1) ? n->in[0] : 0;
    if (x)
        return exponent_of(f, x) ? fold_value(f, make_expm1(f->g, exponent_of(f, x))) : 0;
    if (n->op != &op_sub || !is_number(f, n->in[0], 1) || !(x = exponent_of(f, n->in[1])))
        return 0;
    return negated(f, fold_value(f, make_expm1(f->g, x)));
}
