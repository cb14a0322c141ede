// keep_one: turns a value that all ranks have into a partial one: the first rank keeps it, the
// others get the neutral element of the sum (maximum, minimum).
#include "ir/operator/operator.h"

enum { REDUCTION = EXCHANGE_OWN };

static bool keep_one_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);

    return infer_exchange(g, n, d) && infer_reduction(g, n, REDUCTION, d) &&
           infer_set(g, n, 0, x->dtype, x->rank, x->dim, d);
}

static void keep_one_exchange(const Node *n, int ranks, const Tensor *x, Tensor *y)
{
    Fold fold = exchange_fold(n, REDUCTION, x->dtype);

    for (int rank = 0; rank < ranks; rank++)
        for (int64_t k = 0; k < tensor_count(&x[rank]); k++) {
            if (rank == 0)
                element_copy(&y[rank], k, &x[rank], k);
            else if (y[rank].f)
                y[rank].f[k] = fold.first;
            else
                y[rank].i[k] = fold.first_int;
        }
}

static void keep_one_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                            Kernel *k)
{
    kernel_exchange(g, n, 1, exchange_flat(in(g, n, 0)), REDUCTION, stride, k);
}

const OpDef op_keep_one = {
    .name = "keep_one",
    .n_in = 1,
    .attrs = {EXCHANGE_ATTRS, {"op", ATTR_TEXT}},
    .infer = keep_one_infer,
    .rule = rule_exchange,
    .exchange = keep_one_exchange,
    .kernel = keep_one_kernel,
    .no_grad = EXCHANGE_NO_GRAD,
    .no_split = EXCHANGE_NO_SPLIT,
};
