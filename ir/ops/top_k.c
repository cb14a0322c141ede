// top_k: the k largest elements along one dim, descending, and their indices. Equal ones keep their
// order; NaN comes first.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { AXIS, K };

static bool top_k_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t axis = n->attr[AXIS].i, k = n->attr[K].i, dim[MAX_RANK];

    if (!infer_axis(g, n, "axis", axis, x->rank, d))
        return false;
    if (k < 0 || k > x->dim[axis])
        return node_error(g, n, d, "k is %" PRId64 ", expected 0 to %" PRId64, k, x->dim[axis]);
    for (int i = 0; i < x->rank; i++)
        dim[i] = i == axis ? k : x->dim[i];
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d) &&
           infer_set(g, n, 1, I64, x->rank, dim, d);
}

static void top_k_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_along(g, n, r, (int)n->attr[AXIS].i);
}

// scatter puts the values' gradients back to their indices. It takes all dims except the last
// as batch dims, so the axis is moved to the end.
static void top_k_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    const Value *x = in(g, n, 0);
    int axis = (int)n->attr[AXIS].i, last = x->rank - 1;
    int64_t perm[MAX_RANK], size = x->dim[axis];
    ValueId rows = dy[0], index = n->out[1];

    for (int i = 0; i <= last; i++)
        perm[i] = i;
    perm[axis] = last;
    perm[last] = axis;
    if (axis != last) {
        rows = make_transpose(g, rows, perm);
        index = make_transpose(g, index, perm);
    }
    dx[0] = make_scatter_add(g, rows, index, last, last, size);
    if (axis != last)
        dx[0] = make_transpose(g, dx[0], perm);
}

// Is element b after element a in the order of the output? Equal ones keep their order.
static bool is_after(const Tensor *x, int64_t b, int64_t a)
{
    return element_above(x, a, b) || (b > a && !element_above(x, b, a));
}

static void top_k_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                       Tensor *y)
{
    int64_t k = n->attr[K].i;
    Along a = along(x->rank, x->dim, (int)n->attr[AXIS].i);

    for (int64_t row = 0; row < a.outer * a.inner && k; row++) {
        int64_t from = row / a.inner * a.n * a.inner + row % a.inner;
        int64_t to = row / a.inner * k * a.inner + row % a.inner;

        int64_t last = -1;
        for (int64_t j = 0; j < k; j++) {
            int64_t best = -1;

            for (int64_t i = 0; i < a.n; i++) {
                int64_t at = from + i * a.inner;
                if ((last < 0 || is_after(x, at, last)) && (best < 0 || element_above(x, at, best)))
                    best = at;
            }
            element_copy(&y[0], to + j * a.inner, x, best);
            y[1].i[to + j * a.inner] = (best - from) / a.inner;
            last = best;
        }
    }
}

static void top_k_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                         Kernel *k)
{
    kernel_along(g, n, (int)n->attr[AXIS].i, stride, k);
    k->params.along.k = n->attr[K].i;
}

static ValueId top_k_split(Graph *g, const Node *n, const Split *s)
{
    return make_top_k(g, s->in[0], s->operand[0].first[n->attr[AXIS].i], n->attr[K].i);
}

const OpDef op_top_k = {
    .name = "top_k",
    .n_in = 1,
    .n_out = 2,
    .attrs = {{"axis", ATTR_INT}, {"k", ATTR_INT}},
    .infer = top_k_infer,
    .rule = top_k_rule,
    .split = top_k_split,
    .grad = top_k_grad,
    .eval = top_k_eval,
    .kernel = top_k_kernel,
    .flops = 10,
    .no_split = "the largest of a shard need not be among the largest of the whole",
    .is_choice = true,
};
