// shard: each rank keeps its shard of one dim of a value that all ranks have.
#include <string.h>

#include "ir/operator/operator.h"

enum { DIM = EXCHANGE_OWN };

static bool shard_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t dim[MAX_RANK];

    if (!infer_exchange(g, n, d) || !infer_exchange_dim(g, n, DIM, d))
        return false;
    memcpy(dim, x->dim, sizeof dim);
    dim[n->attr[DIM].i] = exchange_shard(n, dim[n->attr[DIM].i]);
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void shard_exchange(const Node *n, int ranks, const Tensor *x, Tensor *y)
{
    int dim = (int)n->attr[DIM].i;

    for (int rank = 0; rank < ranks; rank++) {
        int64_t zero[MAX_RANK] = {0}, at[MAX_RANK] = {0};

        at[dim] = exchange_offset(y, rank, dim);
        tensor_box(&x[rank], at, &y[rank], zero, y[rank].dim, NULL);
    }
}

static void shard_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                         Kernel *k)
{
    RtExchange p =
        exchange_around(in(g, n, 0), (int)n->attr[DIM].i, exchange_is_last(g, n, stride));

    kernel_exchange(g, n, 1, p, 0, stride, k);
}

const OpDef op_shard = {
    .name = "shard",
    .n_in = 1,
    .attrs = {EXCHANGE_ATTRS, {"dim", ATTR_INT}},
    .infer = shard_infer,
    .rule = rule_exchange,
    .exchange = shard_exchange,
    .kernel = shard_kernel,
    .no_grad = EXCHANGE_NO_GRAD,
    .no_split = EXCHANGE_NO_SPLIT,
};
