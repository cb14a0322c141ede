// sub: a - b.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void sub_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = dy[0];
    if (want[1])
        dx[1] = make_neg(g, dy[0]);
}

static double sub_scalar(const Node *n, const double *x) { return x[0] - x[1]; }

static int64_t sub_int(const Node *n, const int64_t *x) { return rt_sub_int(x[0], x[1]); }

static const char *sub_expr(const Graph *g, const Node *n)
{
    return expr_number(g, n, "sub", "$0 - $1");
}

const OpDef op_sub = {
    .name = "sub",
    .n_in = 2,
    .infer = infer_number_like,
    .rule = rule_linear,
    .grad = sub_grad,
    .expr = sub_expr,
    .is_elementwise = true,
    .scalar = sub_scalar,
    .scalar_int = sub_int,
    .flops = 1,
};
