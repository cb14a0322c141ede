// Shape inference that many operators share: limits of shapes, and operands of equal type.
#include "ir/internal.h"

#include <string.h>

static const int64_t most_elements = (int64_t)1 << 48;

const char *shape_problem(int rank, const int64_t *dim)
{
    int64_t count = 1;

    if (rank < 0 || rank > MAX_RANK)
        return "has more than 12 dims";
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return "has a negative dim";
        // A dim of size 0 counts as 1, so that the product of every subset of dims is in bounds.
        if (dim[i] && (!mul_size(count, dim[i], &count) || count > most_elements))
            return "has more than 2^48 elements";
    }
    return NULL;
}

bool infer_set(Graph *g, Node *n, int i, DType t, int rank, const int64_t *dim, Diag *d)
{
    Value *v = value_of(g, n->out[i]);
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
