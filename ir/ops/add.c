// add: a + b.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void add_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = dx[1] = dy[0];
}

static double add_scalar(const Node *n, const double *x) { return x[0] + x[1]; }

static int64_t add_int(const Node *n, const int64_t *x) { return rt_add_int(x[0], x[1]); }

static const char *add_expr(const Graph *g, const Node *n)
{
    return expr_number(g, n, "add", "$0 + $1");
}

const OpDef op_add = {
    .name = "add",
    .n_in = 2,
    .infer = infer_number_like,
    .rule = rule_linear,
    .grad = add_grad,
    .expr = add_expr,
    .is_elementwise = true,
    .scalar = add_scalar,
    .scalar_int = add_int,
    .flops = 1,
};
