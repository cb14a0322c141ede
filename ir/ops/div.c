// div: a / b; integers are truncated towards zero, and x / 0 is 0 for them.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void div_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    if (dtype_is_float(in(g, n, 0)->dtype))
        r->single = 1;
}

// y = a / b gives db = -dy a / b² = -dy y / b.
static void div_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId da = make_div(g, dy[0], n->in[1]);

    if (want[0])
        dx[0] = da;
    if (want[1])
        dx[1] = make_neg(g, make_mul(g, da, n->out[0]));
}

static double div_scalar(const Node *n, const double *x) { return x[0] / x[1]; }

static int64_t div_int(const Node *n, const int64_t *x) { return rt_div_int(x[0], x[1]); }

static const char *div_expr(const Graph *g, const Node *n)
{
    return expr_number(g, n, "div", "$0 / $1");
}

const OpDef op_div = {
    .name = "div",
    .n_in = 2,
    .infer = infer_number_like,
    .rule = div_rule,
    .grad = div_grad,
    .expr = div_expr,
    .is_elementwise = true,
    .scalar = div_scalar,
    .scalar_int = div_int,
    .flops = 4,
};
