// tanh: the hyperbolic tangent.
#include <math.h>

#include "ir/operator/operator.h"

// y' = 1 - y².
static void tanh_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId y = n->out[0], one = scalar_like(g, y, 1);

    dx[0] = make_mul(g, dy[0], make_sub(g, one, make_square(g, y)));
}

static double tanh_scalar(const Node *n, const double *x) { return tanh(x[0]); }

static const char *tanh_expr(const Graph *g, const Node *n) { return expr_call(g, n, "tanh"); }

const OpDef op_tanh = {
    .name = "tanh",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = tanh_grad,
    .expr = tanh_expr,
    .is_elementwise = true,
    .scalar = tanh_scalar,
    .flops = 15,
};
