// Shape inference that many operators share: operands of equal type, and results within bounds.
#include "ir/operator/contract.h"

#include <string.h>

bool infer_set(Graph *g, Node *n, int i, DType t, int rank, const int64_t *dim, Diag *d)
{
    Value *v = value_edit(g, n->out[i]);
    const char *problem = shape_problem(rank, dim);

    if (problem)
        return node_error(g, n, d, "the result %s", problem);
    v->dtype = t;
    v->rank = rank;
    if (rank)
        memmove(v->dim, dim, (size_t)rank * sizeof *dim);
    return true;
}

static bool inputs_alike(Graph *g, Node *n, Diag *d)
{
    for (int i = 1; i < n->n_in; i++) {
        if (!same_type(in(g, n, 0), in(g, n, i)))
            return node_error(g, n, d, "operands differ: %s and %s",
                              type_text(g->arena, in(g, n, 0)), type_text(g->arena, in(g, n, i)));
    }
    return true;
}

static bool set_like(Graph *g, Node *n, DType t, Diag *d)
{
    const Value *x = in(g, n, 0);

    return infer_set(g, n, 0, t, x->rank, x->dim, d);
}

bool infer_product(const Graph *g, const Node *n, int to, DType *result, Diag *d)
{
    DType t = in(g, n, 0)->dtype;

    *result = n->attr[to].i ? (DType)n->attr[to].i : t;
    if (in(g, n, 1)->dtype != t || !dtype_is_float(t))
        return node_error(g, n, d, "needs two operands of one float type, not %s and %s",
                          dtype_name(t), dtype_name(in(g, n, 1)->dtype));
    if (*result != t && (!dtype_is_half(t) || (*result != F32 && *result != F64)))
        return node_error(g, n, d,
                          "attribute to must be f32 and the operands halves, not %s and %s",
                          dtype_name(*result), dtype_name(t));
    return true;
}

ValueId product_gradient(Graph *g, const Node *n, ValueId dy)
{
    DType t = in(g, n, 0)->dtype;

    return value_of(g, dy)->dtype == t ? dy : make_cast(g, dy, t);
}

bool infer_like(Graph *g, Node *n, Diag *d)
{
    return inputs_alike(g, n, d) && set_like(g, n, in(g, n, 0)->dtype, d);
}

bool infer_float_like(Graph *g, Node *n, Diag *d)
{
    DType t = in(g, n, 0)->dtype;

    if (!dtype_is_float(t))
        return node_error(g, n, d, "takes floats, not %s", dtype_name(t));
    return infer_like(g, n, d);
}

bool infer_int_like(Graph *g, Node *n, Diag *d)
{
    DType t = in(g, n, 0)->dtype;

    if (!dtype_is_int(t))
        return node_error(g, n, d, "takes integers, not %s", dtype_name(t));
    return infer_like(g, n, d);
}

bool infer_compare(Graph *g, Node *n, Diag *d)
{
    return inputs_alike(g, n, d) && set_like(g, n, BOOL, d);
}

bool infer_logical(Graph *g, Node *n, Diag *d)
{
    DType t = in(g, n, 0)->dtype;

    if (t != BOOL)
        return node_error(g, n, d, "takes bool, not %s", dtype_name(t));
    return infer_like(g, n, d);
}
