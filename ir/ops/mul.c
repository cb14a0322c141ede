// mul: a · b.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void mul_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    r->single = 3;
}

static void mul_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    if (want[0])
        dx[0] = make_mul(g, dy[0], n->in[1]);
    if (want[1])
        dx[1] = make_mul(g, dy[0], n->in[0]);
}

static double mul_scalar(const Node *n, const double *x) { return x[0] * x[1]; }

static int64_t mul_int(const Node *n, const int64_t *x) { return rt_mul_int(x[0], x[1]); }

static const char *mul_expr(const Graph *g, const Node *n)
{
    return expr_number(g, n, "mul", "$0 * $1");
}

const OpDef op_mul = {
    .name = "mul",
    .n_in = 2,
    .infer = infer_number_like,
    .rule = mul_rule,
    .grad = mul_grad,
    .expr = mul_expr,
    .is_elementwise = true,
    .scalar = mul_scalar,
    .scalar_int = mul_int,
    .flops = 1,
};
