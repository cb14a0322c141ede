// select: a where the condition is true, b elsewhere.
#include "ir/operator/operator.h"

static bool select_infer(Graph *g, Node *n, Diag *d)
{
    const Value *c = in(g, n, 0), *a = in(g, n, 1), *b = in(g, n, 2);

    if (c->dtype != BOOL)
        return node_error(g, n, d, "the condition must be bool, not %s", dtype_name(c->dtype));
    if (a->dtype != b->dtype)
        return node_error(g, n, d, "dtypes differ: %s and %s", dtype_name(a->dtype),
                          dtype_name(b->dtype));
    if (!same_shape(c, a) || !same_shape(c, b))
        return node_error(g, n, d, "shapes differ: %s, %s and %s", type_text(g->arena, c),
                          type_text(g->arena, a), type_text(g->arena, b));
    return infer_set(g, n, 0, a->dtype, a->rank, a->dim, d);
}

static void select_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    r->joint = 1 << 1 | 1 << 2;
}

static void select_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId c = n->in[0], zero = scalar_like(g, dy[0], 0);

    if (want[1])
        dx[1] = make_select(g, c, dy[0], zero);
    if (want[2])
        dx[2] = make_select(g, c, zero, dy[0]);
}

static double select_scalar(const Node *n, const double *x) { return x[0] != 0 ? x[1] : x[2]; }

static int64_t select_int(const Node *n, const int64_t *x) { return x[0] ? x[1] : x[2]; }

static const char *select_expr(const Graph *g, const Node *n) { return "$0 ? $1 : $2"; }

const OpDef op_select = {
    .name = "select",
    .n_in = 3,
    .infer = select_infer,
    .rule = select_rule,
    .grad = select_grad,
    .expr = select_expr,
    .is_elementwise = true,
    .scalar = select_scalar,
    .scalar_int = select_int,
    .flops = 1,
};
