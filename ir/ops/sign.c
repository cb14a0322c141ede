// sign: -1, 0 or 1 if x is below, at or above 0; NaN if x is NaN.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static double sign_scalar(const Node *n, const double *x) { return rt_sign(x[0]); }

static int64_t sign_int(const Node *n, const int64_t *x) { return rt_sign_int(x[0]); }

static const char *sign_expr(const Graph *g, const Node *n) { return expr_call(g, n, "sign"); }

const OpDef op_sign = {
    .name = "sign",
    .n_in = 1,
    .infer = infer_number_like,
    .rule = rule_elementwise,
    .expr = sign_expr,
    .is_elementwise = true,
    .scalar = sign_scalar,
    .scalar_int = sign_int,
    .flops = 1,
    .is_flat = true,
    .no_grad = "its gradient is zero wherever it has one",
};
