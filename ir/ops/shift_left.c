// shift_left: a · 2^b of integers. 0 unless b is from 0 to 63.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static int64_t shift_left_int(const Node *n, const int64_t *x)
{
    return rt_shift_left_int(x[0], x[1]);
}

static const char *shift_left_expr(const Graph *g, const Node *n)
{
    return expr_call(g, n, "shift_left");
}

const OpDef op_shift_left = {
    .name = "shift_left",
    .n_in = 2,
    .infer = infer_int_like,
    .rule = rule_elementwise,
    .expr = shift_left_expr,
    .is_elementwise = true,
    .scalar_int = shift_left_int,
    .flops = 2,
    .no_grad = "its operands are integers",
};
