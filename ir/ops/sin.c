// sin: the sine of radians.
#include <math.h>

#include "ir/operator/operator.h"

static void sin_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = make_mul(g, dy[0], make_cos(g, n->in[0]));
}

static double sin_scalar(const Node *n, const double *x) { return sin(x[0]); }

static const char *sin_expr(const Graph *g, const Node *n) { return expr_call(g, n, "sin"); }

const OpDef op_sin = {
    .name = "sin",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = sin_grad,
    .expr = sin_expr,
    .is_elementwise = true,
    .scalar = sin_scalar,
    .flops = 15,
};
