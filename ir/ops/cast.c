// cast: the same number in another dtype. Floats are truncated to integers; BOOL is x != 0.
#include "ir/operator/operator.h"

enum { TO };

static bool cast_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);

    if (n->attr[TO].i <= DT_NONE || n->attr[TO].i >= N_DTYPES)
        return node_error(g, n, d, "attribute to is not a dtype");
    return infer_set(g, n, 0, (DType)n->attr[TO].i, x->rank, x->dim, d);
}

static void cast_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    if (dtype_is_float(in(g, n, 0)->dtype) && dtype_is_float(out(g, n)->dtype))
        r->joint = 1;
}

static void cast_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    DType from = in(g, n, 0)->dtype;

    if (dtype_is_float(from) && dtype_is_float(out(g, n)->dtype))
        dx[0] = make_cast(g, dy[0], from);
}

// The evaluator converts between doubles and int64 itself.
static double cast_scalar(const Node *n, const double *x) { return x[0]; }

static int64_t cast_int(const Node *n, const int64_t *x) { return x[0]; }

static const char *cast_expr(const Graph *g, const Node *n)
{
    DType from = in(g, n, 0)->dtype, to = out(g, n)->dtype;
    int bits = 8 * dtype_size(to);

    if (to == BOOL)
        return "$0 != 0";
    if (!dtype_is_float(from) || dtype_is_float(to))
        return arena_string(g->arena, "(%s)$0", dtype_c_type(to));
    if (to == U64)
        return "rt_to_u64($0)";
    if (to >= U8)
        return arena_string(g->arena, "(uint%d_t)rt_to_int($0, 0, UINT%d_MAX)", bits, bits);
    return arena_string(g->arena, "(int%d_t)rt_to_int($0, INT%d_MIN, INT%d_MAX)", bits, bits, bits);
}

const OpDef op_cast = {
    .name = "cast",
    .n_in = 1,
    .attrs = {{"to", ATTR_INT, .is_dtype = true}},
    .infer = cast_infer,
    .rule = cast_rule,
    .grad = cast_grad,
    .expr = cast_expr,
    .is_elementwise = true,
    .scalar = cast_scalar,
    .scalar_int = cast_int,
    .flops = 1,
};
