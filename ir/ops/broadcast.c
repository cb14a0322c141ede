// broadcast: the input's dims become some dims of the output; the output repeats it along all
// others.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { SHAPE, DIMS };

static bool broadcast_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    const Attr *shape = &n->attr[SHAPE], *dims = &n->attr[DIMS];

    if (dims->n != x->rank)
        return node_error(g, n, d, "%d dims for an input of rank %d", dims->n, x->rank);
    if (!infer_ascending(g, n, DIMS, shape->n, d))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] != shape->v[dims->v[i]])
            return node_error(g, n, d,
                              "dim %d of size %" PRId64 " cannot become dim %d of size %" PRId64, i,
                              x->dim[i], (int)dims->v[i], shape->v[dims->v[i]]);
    return infer_set(g, n, 0, x->dtype, shape->n, shape->v, d);
}

// The input's dim that becomes output dim i; -1 if the output repeats along it.
static int dim_from(const Node *n, int i)
{
    for (int j = 0; j < n->attr[DIMS].n; j++)
        if (n->attr[DIMS].v[j] == i)
            return j;
    return -1;
}

static void broadcast_rule(const Graph *g, const Node *n, Rule *r)
{
    int rank = in(g, n, 0)->rank, at = 0, next = rank;
    char y[MAX_RANK + 1] = "", text[RULE_TEXT];

    for (int i = 0; i < out(g, n)->rank; i++)
        y[at++] = dim_from(n, i) >= 0 ? LETTERS[dim_from(n, i)] : LETTERS[next++];
    snprintf(text, sizeof text, "%.*s->%s", rank, LETTERS, y);
    rule_set(g, n, r, text);
    r->joint = 1;
}

static void broadcast_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                           ValueId *dx)
{
    int64_t axes[MAX_RANK];
    int n_axes = 0;

    for (int i = 0; i < out(g, n)->rank; i++)
        if (dim_from(n, i) < 0)
            axes[n_axes++] = i;
    dx[0] = n_axes ? gradient_sum(g, dy[0], n_axes, axes) : dy[0];
}

static void broadcast_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                           Tensor *y)
{
    int64_t index[MAX_RANK] = {0}, from[MAX_RANK], count = tensor_count(y);

    for (int64_t k = 0; k < count; k++, index_next(index, y->rank, y->dim)) {
        for (int i = 0; i < x->rank; i++)
            from[i] = index[n->attr[DIMS].v[i]];
        element_copy(y, k, x, index_at(from, x->rank, x->dim));
    }
}

static bool broadcast_view(const Graph *g, const Node *n, const int64_t *in_stride,
                           int64_t *out_stride, int64_t *offset)
{
    for (int i = 0; i < out(g, n)->rank; i++)
        out_stride[i] = dim_from(n, i) >= 0 ? in_stride[dim_from(n, i)] : 0;
    *offset = 0;
    return true;
}

static ValueId broadcast_split(Graph *g, const Node *n, const Split *s)
{
    const Refined *y = &s->operand[1];
    int64_t dims[MAX_RANK];

    if (split_dims(y, n->attr[DIMS].n, n->attr[DIMS].v, dims) == y->rank)
        return s->in[0];
    return make_broadcast(g, s->in[0], y->rank, y->dim, dims);
}

const OpDef op_broadcast = {
    .name = "broadcast",
    .n_in = 1,
    .attrs = {{"shape", ATTR_INTS}, {"dims", ATTR_INTS}},
    .infer = broadcast_infer,
    .rule = broadcast_rule,
    .split = broadcast_split,
    .grad = broadcast_grad,
    .localise = localise_shape,
    .eval = broadcast_eval,
    .view = broadcast_view,
};
