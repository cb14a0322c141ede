// mod: C's % and fmod. The remainder has the dividend's sign, and x % 0 is 0 for integers.
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

// y = a - b · trunc(a / b) gives db = -dy · trunc(a / b) = -dy · (a - y) / b.
static void mod_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    if (want[0])
        dx[0] = dy[0];
    if (want[1])
        dx[1] = make_mul(g, dy[0], make_div(g, make_sub(g, n->out[0], n->in[0]), n->in[1]));
}

static double mod_scalar(const Node *n, const double *x) { return rt_mod(x[0], x[1]); }

static int64_t mod_int(const Node *n, const int64_t *x) { return rt_mod_int(x[0], x[1]); }

static const char *mod_expr(const Graph *g, const Node *n) { return expr_call(g, n, "mod"); }

const OpDef op_mod = {
    .name = "mod",
    .n_in = 2,
    .infer = infer_number_like,
    .rule = rule_elementwise,
    .grad = mod_grad,
    .expr = mod_expr,
    .is_elementwise = true,
    .scalar = mod_scalar,
    .scalar_int = mod_int,
    .flops = 10,
};
