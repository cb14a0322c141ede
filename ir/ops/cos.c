// cos: the cosine of radians.
#include <math.h>

#include "ir/operator/operator.h"

static void cos_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = make_neg(g, make_mul(g, dy[0], make_sin(g, n->in[0])));
}

static double cos_scalar(const Node *n, const double *x) { return cos(x[0]); }

static const char *cos_expr(const Graph *g, const Node *n) { return expr_call(g, n, "cos"); }

const OpDef op_cos = {
    .name = "cos",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = cos_grad,
    .expr = cos_expr,
    .is_elementwise = true,
    .scalar = cos_scalar,
    .flops = 15,
};
