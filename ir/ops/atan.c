// atan: the arc tangent, in radians.
#include <math.h>

#include "ir/operator/operator.h"

// y' = 1 / (1 + x²).
static void atan_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId x = n->in[0], one = scalar_like(g, x, 1);

    dx[0] = make_div(g, dy[0], make_add(g, one, make_square(g, x)));
}

static double atan_scalar(const Node *n, const double *x) { return atan(x[0]); }

static const char *atan_expr(const Graph *g, const Node *n) { return expr_call(g, n, "atan"); }

const OpDef op_atan = {
    .name = "atan",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = atan_grad,
    .expr = atan_expr,
    .is_elementwise = true,
    .scalar = atan_scalar,
    .flops = 15,
};
