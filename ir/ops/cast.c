// cast: the same number in another dtype. Floats are truncated to integers; BOOL is x != 0.
// parts=1: the parts of a sum may be rounded to halves one by one.
#include "ir/operator/operator.h"

enum { TO, PARTS };

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
    bool rounds_parts = n->attr[PARTS].i || !dtype_is_half(out(g, n)->dtype);
    if (dtype_is_float(in(g, n, 0)->dtype) && dtype_is_float(out(g, n)->dtype) && rounds_parts)
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

// A number as rt_to_bf16 and rt_to_f16 take it: rounding it gives what rounding $0 once would.
static const char *before_half(DType from, const char *x)
{
    return from == F32 || dtype_is_half(from) ? x : "rt_to_odd((double)$0)";
}

static const char *cast_expr(const Graph *g, const Node *n)
{
    DType from = in(g, n, 0)->dtype, to = out(g, n)->dtype;
    const char *x = from == BF16 ? "rt_from_bf16($0)" : from == F16 ? "rt_from_f16($0)" : "$0";
    int bits = 8 * dtype_size(to);

    if (to == BOOL)
        return arena_string(g->arena, "%s != 0", x);
    if (dtype_is_half(to))
        return arena_string(g->arena, "rt_to_%s(%s)", dtype_name(to), before_half(from, x));
    if (!dtype_is_float(from) || dtype_is_float(to))
        return to == F32 && dtype_is_half(from)
                   ? x
                   : arena_string(g->arena, "(%s)%s", dtype_c_type(to), x);
    if (to == U64)
        return arena_string(g->arena, "rt_to_u64(%s)", x);
    if (to >= U8)
        return arena_string(g->arena, "(uint%d_t)rt_to_int(%s, 0, UINT%d_MAX)", bits, x, bits);
    return arena_string(g->arena, "(int%d_t)rt_to_int(%s, INT%d_MIN, INT%d_MAX)", bits, x, bits,
                        bits);
}

const OpDef op_cast = {
    .name = "cast",
    .n_in = 1,
    .attrs = {{"to", ATTR_INT, .is_dtype = true}, {"parts", ATTR_INT}},
    .infer = cast_infer,
    .rule = cast_rule,
    .grad = cast_grad,
    .expr = cast_expr,
    .is_elementwise = true,
    .scalar = cast_scalar,
    .scalar_int = cast_int,
    .flops = 1,
};
