// max: the larger of two; NaN if either is.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

// The larger operand gets all of dy; equal ones get half each.
static void max_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId a = n->in[0], b = n->in[1], zero = scalar_like(g, dy[0], 0);
    ValueId half = make_mul(g, dy[0], scalar_like(g, dy[0], 0.5));
    ValueId tie = make_select(g, make_eq(g, a, b), half, zero);

    if (want[0])
        dx[0] = make_select(g, make_lt(g, b, a), dy[0], tie);
    if (want[1])
        dx[1] = make_select(g, make_lt(g, a, b), dy[0], tie);
}

static double max_scalar(const Node *n, const double *x) { return rt_max(x[0], x[1]); }

static int64_t max_int(const Node *n, const int64_t *x) { return rt_max_int(x[0], x[1]); }

static const char *max_expr(const Graph *g, const Node *n) { return expr_call(g, n, "max"); }

const OpDef op_max = {
    .name = "max",
    .n_in = 2,
    .infer = infer_number_like,
    .rule = rule_elementwise,
    .grad = max_grad,
    .expr = max_expr,
    .is_elementwise = true,
    .scalar = max_scalar,
    .scalar_int = max_int,
    .flops = 1,
};
