// expm1: e^x - 1, with all digits where x is near 0.
#include <math.h>

#include "ir/operator/operator.h"

// y' = y + 1.
static void expm1_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId y = n->out[0];

    dx[0] = make_mul(g, dy[0], make_add(g, y, scalar_like(g, y, 1)));
}

static double expm1_scalar(const Node *n, const double *x) { return expm1(x[0]); }

static const char *expm1_expr(const Graph *g, const Node *n) { return expr_call(g, n, "expm1"); }

const OpDef op_expm1 = {
    .name = "expm1",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = expm1_grad,
    .expr = expm1_expr,
    .is_elementwise = true,
    .scalar = expm1_scalar,
    .flops = 12,
};
