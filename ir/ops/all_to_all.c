// all_to_all: joins the shards of dim `join` and splits dim `cut` instead.
#include <string.h>

#include "ir/operator/operator.h"

enum { JOIN = EXCHANGE_OWN, CUT, SIZE };

static bool all_to_all_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t dim[MAX_RANK];

    if (!infer_exchange(g, n, d) || !infer_exchange_dim(g, n, JOIN, d) ||
        !infer_exchange_dim(g, n, CUT, d) || !infer_exchange_size(g, n, JOIN, n->attr[SIZE].i, d))
        return false;
    if (n->attr[JOIN].i == n->attr[CUT].i)
        return node_error(g, n, d, "join and cut are both %" PRId64, n->attr[CUT].i);
    memcpy(dim, x->dim, sizeof dim);
    dim[n->attr[JOIN].i] = n->attr[SIZE].i;
    dim[n->attr[CUT].i] = exchange_shard(n, dim[n->attr[CUT].i]);
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void all_to_all_exchange(const Node *n, int ranks, const Tensor *x, Tensor *y)
{
    int joined = (int)n->attr[JOIN].i, cut = (int)n->attr[CUT].i;

    for (int to = 0; to < ranks; to++)
        for (int from = 0; from < ranks; from++) {
            int64_t x_at[MAX_RANK] = {0}, y_at[MAX_RANK] = {0}, size[MAX_RANK];

            memcpy(size, x[from].dim, sizeof size);
            size[cut] = y[to].dim[cut];
            x_at[cut] = exchange_offset(y, to, cut);
            y_at[joined] = exchange_offset(x, from, joined);
            tensor_box(&x[from], x_at, &y[to], y_at, size, NULL);
        }
}

static void all_to_all_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                              Kernel *k)
{
    const Value *x = in(g, n, 0);
    int joined = (int)n->attr[JOIN].i, cut = (int)n->attr[CUT].i;
    bool is_last = exchange_is_last(g, n, stride);
    int join_at = exchange_position(x, joined, is_last),
        cut_at = exchange_position(x, cut, is_last);
    int first = join_at < cut_at ? join_at : cut_at, last = join_at < cut_at ? cut_at : join_at;
    RtExchange p = {.outer = exchange_count(x, 0, first, is_last),
                    .whole = x->dim[cut],
                    .middle = exchange_count(x, first + 1, last, is_last),
                    .joined = n->attr[SIZE].i,
                    .inner = exchange_count(x, last + 1, x->rank, is_last),
                    .joins_first = join_at < cut_at};

    kernel_exchange(g, n, 1, p, 0, stride, k);
}

const OpDef op_all_to_all = {
    .name = "all_to_all",
    .n_in = 1,
    .attrs = {EXCHANGE_ATTRS, {"join", ATTR_INT}, {"cut", ATTR_INT}, {"size", ATTR_INT}},
    .infer = all_to_all_infer,
    .rule = rule_exchange,
    .exchange = all_to_all_exchange,
    .kernel = all_to_all_kernel,
    .no_grad = EXCHANGE_NO_GRAD,
    .no_split = EXCHANGE_NO_SPLIT,
};
