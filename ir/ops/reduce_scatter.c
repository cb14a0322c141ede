// reduce_scatter: the sum (maximum, minimum) of the ranks' inputs; each rank gets its shard of one
// dim.
#include <string.h>

#include "ir/operator/operator.h"

enum { DIM = EXCHANGE_OWN, REDUCTION };

static bool reduce_scatter_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t dim[MAX_RANK];

    if (!infer_exchange(g, n, d) || !infer_exchange_dim(g, n, DIM, d) ||
        !infer_reduction(g, n, REDUCTION, d))
        return false;
    memcpy(dim, x->dim, sizeof dim);
    dim[n->attr[DIM].i] = exchange_shard(n, dim[n->attr[DIM].i]);
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void reduce_scatter_exchange(const Node *n, int ranks, const Tensor *x, Tensor *y)
{
    int dim = (int)n->attr[DIM].i;
    Fold fold = exchange_fold(n, REDUCTION, x->dtype);

    for (int to = 0; to < ranks; to++) {
        int64_t zero[MAX_RANK] = {0}, at[MAX_RANK] = {0};

        at[dim] = exchange_offset(y, to, dim);
        for (int from = 0; from < ranks; from++)
            tensor_box(&x[from], at, &y[to], zero, y[to].dim, from ? &fold : NULL);
    }
}

static void reduce_scatter_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                                  Kernel *k)
{
    RtExchange p =
        exchange_around(in(g, n, 0), (int)n->attr[DIM].i, exchange_is_last(g, n, stride));

    kernel_exchange(g, n, 1, p, REDUCTION, stride, k);
}

const OpDef op_reduce_scatter = {
    .name = "reduce_scatter",
    .n_in = 1,
    .attrs = {EXCHANGE_ATTRS, {"dim", ATTR_INT}, {"op", ATTR_TEXT}},
    .infer = reduce_scatter_infer,
    .rule = rule_exchange,
    .exchange = reduce_scatter_exchange,
    .kernel = reduce_scatter_kernel,
    .no_grad = EXCHANGE_NO_GRAD,
    .no_split = EXCHANGE_NO_SPLIT,
};
