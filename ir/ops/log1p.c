// log1p: the natural logarithm of 1 + x, with all digits where x is near 0.
#include <math.h>

#include "ir/operator/operator.h"

// y' = 1 / (1 + x).
static void log1p_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId x = n->in[0];

    dx[0] = make_div(g, dy[0], make_add(g, x, scalar_like(g, x, 1)));
}

static double log1p_scalar(const Node *n, const double *x) { return log1p(x[0]); }

static const char *log1p_expr(const Graph *g, const Node *n) { return expr_call(g, n, "log1p"); }

const OpDef op_log1p = {
    .name = "log1p",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = log1p_grad,
    .expr = log1p_expr,
    .is_elementwise = true,
    .scalar = log1p_scalar,
    .flops = 12,
};
