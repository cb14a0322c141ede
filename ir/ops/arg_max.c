// arg_max: the index of the largest element along one dim, of the first of equal ones. NaN is
// largest.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { AXIS };

static bool arg_max_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t axis = n->attr[AXIS].i, dim[MAX_RANK];
    int rank = 0;

    if (!infer_axis(g, n, "axis", axis, x->rank, d))
        return false;
    if (x->dim[axis] == 0)
        return node_error(g, n, d, "0 elements have no largest one");
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            dim[rank++] = x->dim[i];
    return infer_set(g, n, 0, I64, rank, dim, d);
}

static void arg_max_rule(const Graph *g, const Node *n, Rule *r)
{
    int rank = in(g, n, 0)->rank, axis = (int)n->attr[AXIS].i;
    char text[RULE_TEXT];

    snprintf(text, sizeof text, "%.*s->%.*s%.*s", rank, LETTERS, axis, LETTERS, rank - axis - 1,
             &LETTERS[axis + 1]);
    rule_set(g, n, r, text);
    rule_kind(r, LETTERS[axis], FACTOR_BLOCKED);
}

static void arg_max_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                         Tensor *y)
{
    Along a = along(x->rank, x->dim, (int)n->attr[AXIS].i);

    for (int64_t k = 0; k < tensor_count(y); k++) {
        int64_t first = k / a.inner * a.n * a.inner + k % a.inner, best = 0;

        for (int64_t i = 1; i < a.n; i++)
            if (element_above(x, first + i * a.inner, first + best * a.inner))
                best = i;
        y->i[k] = best;
    }
}

static void arg_max_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                           Kernel *k)
{
    kernel_along(g, n, (int)n->attr[AXIS].i, stride, k);
}

static ValueId arg_max_split(Graph *g, const Node *n, const Split *s)
{
    return make_arg_max(g, s->in[0], s->operand[0].first[n->attr[AXIS].i]);
}

const OpDef op_arg_max = {
    .name = "arg_max",
    .n_in = 1,
    .attrs = {{"axis", ATTR_INT}},
    .infer = arg_max_infer,
    .rule = arg_max_rule,
    .split = arg_max_split,
    .eval = arg_max_eval,
    .kernel = arg_max_kernel,
    .flops = 1,
    .no_grad = "its result is an index",
    .no_split = "the largest of the shards' positions is not the position of the largest",
};
