// not: logical not.
#include "ir/operator/operator.h"

static int64_t not_int(const Node *n, const int64_t *x) { return !x[0]; }

static const char *not_expr(const Graph *g, const Node *n) { return "!$0"; }

const OpDef op_not = {
    .name = "not",
    .n_in = 1,
    .infer = infer_logical,
    .rule = rule_elementwise,
    .expr = not_expr,
    .is_elementwise = true,
    .scalar_int = not_int,
    .flops = 1,
    .no_grad = "its result is a truth value",
};
