// permute: two mesh axes are exchanged. With p ranks along the first and q along the second, rank
// (i, j) gets the value of rank (k / q, k % q), where k = j · p + i.
#include "ir/operator/operator.h"

static bool permute_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);

    if (!infer_exchange(g, n, d))
        return false;
    if (n->attr[EXCHANGE_AXES].n != 2)
        return node_error(g, n, d, "%d axes instead of two", n->attr[EXCHANGE_AXES].n);
    return infer_set(g, n, 0, x->dtype, x->rank, x->dim, d);
}

static void permute_exchange(const Node *n, int ranks, const Tensor *x, Tensor *y)
{
    int64_t p = n->attr[EXCHANGE_RANKS].v[0], q = n->attr[EXCHANGE_RANKS].v[1];

    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < q; j++) {
            int64_t zero[MAX_RANK] = {0};
            Tensor *to = &y[i * q + j];

            tensor_box(&x[j * p + i], zero, to, zero, to->dim, NULL);
        }
}

static void permute_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                           Kernel *k)
{
    kernel_exchange(g, n, 2, exchange_flat(in(g, n, 0)), 0, stride, k);
}

const OpDef op_permute = {
    .name = "permute",
    .n_in = 1,
    .attrs = {EXCHANGE_ATTRS},
    .infer = permute_infer,
    .rule = rule_exchange,
    .exchange = permute_exchange,
    .kernel = permute_kernel,
    .no_grad = EXCHANGE_NO_GRAD,
    .no_split = EXCHANGE_NO_SPLIT,
};
