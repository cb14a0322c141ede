// bit_and: the bits that both integers have. Or is a + b - (a & b), exclusive or a + b - 2 (a & b).
#include "ir/operator/operator.h"

static int64_t bit_and_int(const Node *n, const int64_t *x) { return x[0] & x[1]; }

static const char *bit_and_expr(const Graph *g, const Node *n) { return "$0 & $1"; }

const OpDef op_bit_and = {
    .name = "bit_and",
    .n_in = 2,
    .infer = infer_int_like,
    .rule = rule_elementwise,
    .expr = bit_and_expr,
    .is_elementwise = true,
    .scalar_int = bit_and_int,
    .flops = 1,
    .no_grad = "its operands are integers",
};
