// lt: is a less than b?
#include "ir/operator/operator.h"

static double lt_scalar(const Node *n, const double *x) { return x[0] < x[1]; }

static int64_t lt_int(const Node *n, const int64_t *x) { return x[0] < x[1]; }

static const char *lt_expr(const Graph *g, const Node *n) { return expr_order(g, n, "<"); }

const OpDef op_lt = {
    .name = "lt",
    .n_in = 2,
    .infer = infer_compare,
    .rule = rule_elementwise,
    .expr = lt_expr,
    .is_elementwise = true,
    .is_comparison = true,
    .scalar = lt_scalar,
    .scalar_int = lt_int,
    .flops = 1,
    .no_grad = "its result is a truth value",
};
