// erf: the error function.
#include <math.h>

#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static const double two_over_sqrt_pi = 1.1283791670955126;

// y' = 2 / √π · e^(-x²).
static void erf_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId x = n->in[0], bell = make_exp(g, make_neg(g, make_square(g, x)));

    dx[0] = make_mul(g, dy[0], make_mul(g, bell, scalar_like(g, x, two_over_sqrt_pi)));
}

static double erf_scalar(const Node *n, const double *x) { return erf(x[0]); }

static const char *erf_expr(const Graph *g, const Node *n) { return expr_call(g, n, "erf"); }

const OpDef op_erf = {
    .name = "erf",
    .n_in = 1,
    .infer = infer_float_like,
    .rule = rule_elementwise,
    .grad = erf_grad,
    .expr = erf_expr,
    .is_elementwise = true,
    .scalar = erf_scalar,
    .flops = 15,
};
