// or: logical or.
#include "ir/operator/operator.h"

static int64_t or_int(const Node *n, const int64_t *x) { return x[0] | x[1]; }

static const char *or_expr(const Graph *g, const Node *n) { return "$0 | $1"; }

const OpDef op_or = {
    .name = "or",
    .n_in = 2,
    .infer = infer_logical,
    .rule = rule_elementwise,
    .expr = or_expr,
    .is_elementwise = true,
    .scalar_int = or_int,
    .flops = 1,
    .no_grad = "its result is a truth value",
};
