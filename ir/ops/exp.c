// exp: e^x.
#include <math.h>

#include "ir/operator/operator.h"

static void exp_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = make_mul(g, dy[0], n->out[0]);
}

static double exp_scalar(const Node *n, const double *x) { return exp(x[0]); }

static const char *exp_expr(const Graph *g, const Node *n)
{
    bool is_low = out(g, n)->dtype == F32 && value_is_low(g, n->in[0]);

    return expr_call(g, n, is_low ? "exp_low" : "exp");
}

const OpDef op_exp = {
    .name = "exp",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = exp_grad,
    .expr = exp_expr,
    .is_elementwise = true,
    .scalar = exp_scalar,
    .flops = 10,
};
