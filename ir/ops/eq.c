// eq: is a equal to b?
#include "ir/operator/operator.h"

static double eq_scalar(const Node *n, const double *x) { return x[0] == x[1]; }

static int64_t eq_int(const Node *n, const int64_t *x) { return x[0] == x[1]; }

static const char *eq_expr(const Graph *g, const Node *n) { return "$0 == $1"; }

const OpDef op_eq = {
    .name = "eq",
    .n_in = 2,
    .infer = infer_compare,
    .rule = rule_elementwise,
    .expr = eq_expr,
    .is_elementwise = true,
    .is_comparison = true,
    .scalar = eq_scalar,
    .scalar_int = eq_int,
    .flops = 1,
    .no_grad = "its result is a truth value",
};
