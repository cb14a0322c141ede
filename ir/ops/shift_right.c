// shift_right: ⌊a / 2^b⌋ of integers, as if they had 64 bits and a sign. 0 or -1 unless b is from 0
// to 63.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static int64_t shift_right_int(const Node *n, const int64_t *x)
{
    return rt_shift_right_int(x[0], x[1]);
}

static const char *shift_right_expr(const Graph *g, const Node *n)
{
    return expr_call(g, n, "shift_right");
}

const OpDef op_shift_right = {
    .name = "shift_right",
    .n_in = 2,
    .infer = infer_int_like,
    .rule = rule_elementwise,
    .expr = shift_right_expr,
    .is_elementwise = true,
    .scalar_int = shift_right_int,
    .flops = 2,
    .no_grad = "its operands are integers",
};
