// le: is a less or equal to b?
#include "ir/operator/operator.h"

static double le_scalar(const Node *n, const double *x) { return x[0] <= x[1]; }

static int64_t le_int(const Node *n, const int64_t *x) { return x[0] <= x[1]; }

static const char *le_expr(const Graph *g, const Node *n) { return expr_order(g, n, "<="); }

const OpDef op_le = {
    .name = "le",
    .n_in = 2,
    .infer = infer_compare,
    .rule = rule_elementwise,
    .expr = le_expr,
    .is_elementwise = true,
    .is_comparison = true,
    .scalar = le_scalar,
    .scalar_int = le_int,
    .flops = 1,
    .no_grad = "its result is a truth value",
};
