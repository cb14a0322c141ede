// min: the smaller of two; NaN if either is.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

// The smaller operand gets all of dy; equal ones get half each.
static void min_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId a = n->in[0], b = n->in[1], zero = scalar_like(g, dy[0], 0);
    ValueId half = make_mul(g, dy[0], scalar_like(g, dy[0], 0.5));
    ValueId tie = make_select(g, make_eq(g, a, b), half, zero);

    if (want[0])
        dx[0] = make_select(g, make_lt(g, a, b), dy[0], tie);
    if (want[1])
        dx[1] = make_select(g, make_lt(g, b, a), dy[0], tie);
}

static double min_scalar(const Node *n, const double *x) { return rt_min(x[0], x[1]); }

static int64_t min_int(const Node *n, const int64_t *x) { return rt_min_int(x[0], x[1]); }

static const char *min_expr(const Graph *g, const Node *n) { return expr_call(g, n, "min"); }

const OpDef op_min = {
    .name = "min",
    .n_in = 2,
    .infer = infer_number_like,
    .rule = rule_elementwise,
    .grad = min_grad,
    .expr = min_expr,
    .is_elementwise = true,
    .scalar = min_scalar,
    .scalar_int = min_int,
    .flops = 1,
};
