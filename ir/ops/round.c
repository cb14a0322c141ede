// round: the nearest whole number; ties go to the even one.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static double round_scalar(const Node *n, const double *x) { return rt_round(x[0]); }

static const char *round_expr(const Graph *g, const Node *n) { return expr_call(g, n, "round"); }

const OpDef op_round = {
    .name = "round",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .expr = round_expr,
    .is_elementwise = true,
    .scalar = round_scalar,
    .flops = 1,
    .is_flat = true,
    .no_grad = "its gradient is zero wherever it has one",
};
