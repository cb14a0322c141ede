// pow: a to the power of b.
#include <math.h>

#include "ir/operator/operator.h"

// The derivative by a: b · a^(b - 1); 0 where b is 0, even if a^-1 is infinite, and where the power
// is a norm that is 0.
static ValueId by_base(Graph *g, const Node *n)
{
    ValueId a = n->in[0], b = n->in[1], one = scalar_like(g, b, 1), zero = scalar_like(g, b, 0);
    ValueId slope = make_mul(g, b, make_pow(g, a, make_sub(g, b, one)));

    ValueId is_flat = make_eq(g, b, zero);

    if (value_is_norm_power(g, a))
        is_flat = make_or(g, is_flat, make_eq(g, a, zero));
    return make_select(g, is_flat, zero, slope);
}

// The derivative by b: a^b · log a, and 0 where a is 0 and b isn't negative.
static ValueId by_exponent(Graph *g, const Node *n)
{
    ValueId a = n->in[0], b = n->in[1], zero = scalar_like(g, a, 0);
    ValueId slope = make_mul(g, n->out[0], make_log(g, a));
    ValueId is_up = make_le(g, zero, b), is_flat = make_and(g, make_eq(g, a, zero), is_up);

    return make_select(g, is_flat, zero, slope);
}

static void pow_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    if (want[0])
        dx[0] = make_mul(g, dy[0], by_base(g, n));
    if (want[1])
        dx[1] = make_mul(g, dy[0], by_exponent(g, n));
}

static double pow_scalar(const Node *n, const double *x) { return pow(x[0], x[1]); }

static const char *pow_expr(const Graph *g, const Node *n) { return expr_call(g, n, "pow"); }

const OpDef op_pow = {
    .name = "pow",
    .n_in = 2,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = pow_grad,
    .expr = pow_expr,
    .is_elementwise = true,
    .scalar = pow_scalar,
    .flops = 20,
};
