// stop_gradient: x itself, through which no gradient flows. Autodiff drops the nodes.
#include "ir/operator/operator.h"

static double stop_scalar(const Node *n, const double *x) { return x[0]; }

static const char *stop_expr(const Graph *g, const Node *n) { return "$0"; }

const OpDef op_stop_gradient = {
    .name = "stop_gradient",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_linear,
    .expr = stop_expr,
    .is_elementwise = true,
    .scalar = stop_scalar,
    .is_flat = true,
    .no_grad = "it stops gradients",
};
