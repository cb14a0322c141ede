// compensate: a - b, where b is the rounding error of a, found by another sum. Ranks have both of
// them whole: as parts of sums they would be rounded in another order, and b would not be the error
// of what it is subtracted from.
#include "ir/operator/operator.h"

static void compensate_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                            ValueId *dx)
{
    dx[0] = dy[0];
    if (want[1])
        dx[1] = make_neg(g, dy[0]);
}

static double compensate_scalar(const Node *n, const double *x) { return x[0] - x[1]; }

static const char *compensate_expr(const Graph *g, const Node *n) { return "$0 - $1"; }

const OpDef op_compensate = {
    .name = "compensate",
    .n_in = 2,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = compensate_grad,
    .expr = compensate_expr,
    .is_elementwise = true,
    .scalar = compensate_scalar,
    .flops = 1,
};
