// sqrt: the square root.
#include <math.h>

#include "ir/operator/operator.h"

static void sqrt_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId twice = make_mul(g, n->out[0], scalar_like(g, n->out[0], 2));

    dx[0] = make_div(g, dy[0], twice);
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
