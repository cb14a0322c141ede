// all_reduce: the sum (maximum, minimum) of the ranks' inputs, on every rank.
#include "ir/operator/operator.h"

enum { REDUCTION = EXCHANGE_OWN };

static bool all_reduce_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);

    return infer_exchange(g, n, d) && infer_reduction(g, n, REDUCTION, d) &&
           infer_set(g, n, 0, x->dtype, x->rank, x->dim, d);
}

static void all_reduce_exchange(const Node *n, int ranks, const Tensor *x, Tensor *y)
{
    int64_t zero[MAX_RANK] = {0};
    Fold fold = exchange_fold(n, REDUCTION, x->dtype);

    for (int to = 0; to < ranks; to++)
        for (int from = 0; from < ranks; from++)
            tensor_box(&x[from], zero, &y[to], zero, y[to].dim, from ? &fold : NULL);
}

static void all_reduce_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                              Kernel *k)
{
    k->over = 1;
    kernel_exchange(g, n, 1, exchange_flat(in(g, n, 0)), REDUCTION, stride, k);
}

const OpDef op_all_reduce = {
    .name = "all_reduce",
    .n_in = 1,
    .attrs = {EXCHANGE_ATTRS, {"op", ATTR_TEXT}},
    .infer = all_reduce_infer,
    .rule = rule_exchange,
    .exchange = all_reduce_exchange,
    .kernel = all_reduce_kernel,
    .no_grad = EXCHANGE_NO_GRAD,
    .no_split = EXCHANGE_NO_SPLIT,
};
