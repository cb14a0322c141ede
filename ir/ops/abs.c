// abs: |x|.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void abs_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = make_mul(g, dy[0], make_sign(g, n->in[0]));
}

static double abs_scalar(const Node *n, const double *x) { return rt_abs(x[0]); }

static int64_t abs_int(const Node *n, const int64_t *x) { return rt_abs_int(x[0]); }

static const char *abs_expr(const Graph *g, const Node *n) { return expr_call(g, n, "abs"); }

const OpDef op_abs = {
    .name = "abs",
    .n_in = 1,
    .infer = infer_number_like,
    .rule = rule_elementwise,
    .grad = abs_grad,
    .expr = abs_expr,
    .is_elementwise = true,
    .scalar = abs_scalar,
    .scalar_int = abs_int,
    .flops = 1,
};
