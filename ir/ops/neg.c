// neg: -x.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void neg_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = make_neg(g, dy[0]);
}

static double neg_scalar(const Node *n, const double *x) { return -x[0]; }

static int64_t neg_int(const Node *n, const int64_t *x) { return rt_neg_int(x[0]); }

// The blank keeps "--" from forming before a negative number.
static const char *neg_expr(const Graph *g, const Node *n)
{
    return expr_number(g, n, "neg", "-$0");
}

const OpDef op_neg = {
    .name = "neg",
    .n_in = 1,
    .infer = infer_number_like,
    .rule = rule_linear,
    .grad = neg_grad,
    .expr = neg_expr,
    .is_elementwise = true,
    .scalar = neg_scalar,
    .scalar_int = neg_int,
    .flops = 1,
};
