// transpose: puts the dims in another order.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { PERM };

static bool transpose_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    const Attr *perm = &n->attr[PERM];
    int64_t dim[MAX_RANK];
    unsigned seen = 0;

    for (int i = 0; i < perm->n && perm->n == x->rank; i++)
        if (perm->v[i] >= 0 && perm->v[i] < x->rank)
            seen |= 1u << perm->v[i];
    if (perm->n != x->rank || seen != (1u << x->rank) - 1)
        return node_error(g, n, d, "perm is not a permutation of %d dims", x->rank);
    for (int i = 0; i < x->rank; i++)
        dim[i] = x->dim[perm->v[i]];
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void transpose_rule(const Graph *g, const Node *n, Rule *r)
{
    int rank = in(g, n, 0)->rank;
    char y[MAX_RANK + 1] = "", text[RULE_TEXT];

    for (int i = 0; i < rank; i++)
        y[i] = LETTERS[n->attr[PERM].v[i]];
    snprintf(text, sizeof text, "%.*s->%s", rank, LETTERS, y);
    rule_set(g, n, r, text);
    r->joint = 1;
}

static void transpose_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                           ValueId *dx)
{
    int64_t inverse[MAX_RANK];

    for (int i = 0; i < n->attr[PERM].n; i++)
        inverse[n->attr[PERM].v[i]] = i;
    dx[0] = make_transpose(g, dy[0], inverse);
}

static void transpose_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                           Tensor *y)
{
    int64_t index[MAX_RANK] = {0}, from[MAX_RANK];

    for (int64_t k = 0; k < tensor_count(y); k++, index_next(index, y->rank, y->dim)) {
        for (int i = 0; i < y->rank; i++)
            from[n->attr[PERM].v[i]] = index[i];
        element_copy(y, k, x, index_at(from, x->rank, x->dim));
    }
}

static bool transpose_view(const Graph *g, const Node *n, const int64_t *in_stride,
                           int64_t *out_stride, int64_t *offset)
{
    for (int i = 0; i < n->attr[PERM].n; i++)
        out_stride[i] = in_stride[n->attr[PERM].v[i]];
    *offset = 0;
    return true;
}

static ValueId transpose_split(Graph *g, const Node *n, const Split *s)
{
    int64_t perm[MAX_RANK];
    int rank = split_dims(&s->operand[0], n->attr[PERM].n, n->attr[PERM].v, perm);

    for (int i = 0; i < rank; i++)
        if (perm[i] != i)
            return make_transpose(g, s->in[0], perm);
    return s->in[0];
}

const OpDef op_transpose = {
    .name = "transpose",
    .n_in = 1,
    .attrs = {{"perm", ATTR_INTS}},
    .infer = transpose_infer,
    .rule = transpose_rule,
    .split = transpose_split,
    .grad = transpose_grad,
    .eval = transpose_eval,
    .view = transpose_view,
};
