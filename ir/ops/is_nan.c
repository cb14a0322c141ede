// is_nan: is x not a number?
#include "ir/operator/operator.h"

static bool is_nan_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);

    if (!dtype_is_float(x->dtype))
        return node_error(g, n, d, "takes floats, not %s", dtype_name(x->dtype));
    return infer_set(g, n, 0, BOOL, x->rank, x->dim, d);
}

static double is_nan_scalar(const Node *n, const double *x) { return x[0] != x[0]; }

static const char *is_nan_expr(const Graph *g, const Node *n) { return "$0 != $0"; }

const OpDef op_is_nan = {
    .name = "is_nan",
    .n_in = 1,
    .infer = is_nan_infer,
    .rule = rule_elementwise,
    .expr = is_nan_expr,
    .is_elementwise = true,
    .scalar = is_nan_scalar,
    .flops = 1,
    .no_grad = "its result is a truth value",
};
