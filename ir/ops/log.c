// log: the natural logarithm.
#include <math.h>

#include "ir/operator/operator.h"

static void log_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = make_div(g, dy[0], n->in[0]);
}

static double log_scalar(const Node *n, const double *x) { return log(x[0]); }

static const char *log_expr(const Graph *g, const Node *n) { return expr_call(g, n, "log"); }

const OpDef op_log = {
    .name = "log",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = log_grad,
    .expr = log_expr,
    .is_elementwise = true,
    .scalar = log_scalar,
    .flops = 10,
};
