// all_gather: joins the shards of one dim on every rank.
#include <string.h>

#include "ir/operator/operator.h"

enum { DIM = EXCHANGE_OWN, SIZE };

static bool all_gather_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t dim[MAX_RANK];

    if (!infer_exchange(g, n, d) || !infer_exchange_dim(g, n, DIM, d) ||
        !infer_exchange_size(g, n, DIM, n->attr[SIZE].i, d))
        return false;
    memcpy(dim, x->dim, sizeof dim);
    dim[n->attr[DIM].i] = n->attr[SIZE].i;
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void all_gather_exchange(const Node *n, int ranks, const Tensor *x, Tensor *y)
{
    int dim = (int)n->attr[DIM].i;

    for (int to = 0; to < ranks; to++)
        for (int from = 0; from < ranks; from++) {
            int64_t zero[MAX_RANK] = {0}, at[MAX_RANK] = {0};

            at[dim] = exchange_offset(x, from, dim);
            tensor_box(&x[from], zero, &y[to], at, x[from].dim, NULL);
        }
}

static void all_gather_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                              Kernel *k)
{
    RtExchange p = exchange_around(out(g, n), (int)n->attr[DIM].i, exchange_is_last(g, n, stride));

    kernel_exchange(g, n, 1, p, 0, stride, k);
}

const OpDef op_all_gather = {
    .name = "all_gather",
    .n_in = 1,
    .attrs = {EXCHANGE_ATTRS, {"dim", ATTR_INT}, {"size", ATTR_INT}},
    .infer = all_gather_infer,
    .rule = rule_exchange,
    .exchange = all_gather_exchange,
    .kernel = all_gather_kernel,
    .no_grad = EXCHANGE_NO_GRAD,
    .no_split = EXCHANGE_NO_SPLIT,
};
