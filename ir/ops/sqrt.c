// sqrt: the square root.
#include <math.h>

#include "ir/operator/operator.h"

// y' = 1 / (2 y), but 0 where y is a norm that is 0.
static void sqrt_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId y = n->out[0], zero = scalar_like(g, y, 0);
    ValueId slope = make_div(g, dy[0], make_mul(g, y, scalar_like(g, y, 2)));

    dx[0] =
        value_is_norm_power(g, n->in[0]) ? make_select(g, make_eq(g, y, zero), zero, slope) : slope;
}

static double sqrt_scalar(const Node *n, const double *x) { return sqrt(x[0]); }

static const char *sqrt_expr(const Graph *g, const Node *n) { return expr_call(g, n, "sqrt"); }

const OpDef op_sqrt = {
    .name = "sqrt",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = sqrt_grad,
    .expr = sqrt_expr,
    .is_elementwise = true,
    .scalar = sqrt_scalar,
    .flops = 4,
};
