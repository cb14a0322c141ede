// floor: the nearest whole number at or below x.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static double floor_scalar(const Node *n, const double *x) { return rt_floor(x[0]); }

static const char *floor_expr(const Graph *g, const Node *n) { return expr_call(g, n, "floor"); }

const OpDef op_floor = {
    .name = "floor",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .expr = floor_expr,
    .is_elementwise = true,
    .scalar = floor_scalar,
    .flops = 1,
    .is_flat = true,
    .no_grad = "its gradient is zero wherever it has one",
};
