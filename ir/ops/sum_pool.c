// sum_pool: the sum of the elements under a window; padding counts as 0.
#include "ir/operator/contract.h"

enum { SIZE };

static void sum_pool_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_pool(g, n, r);
    r->single = 1 << 0;
}

static void sum_pool_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    Value x = *in(g, n, 0);  // a copy: the graph's values move while nodes are appended
    Window win;

    pool_window(n, SIZE, &win);
    dx[0] = make_sum_pool_grad(g, dy[0], x.dim, &win);
}

static void sum_pool_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                          Tensor *y)
{
    Pool s = pool_of(n, SIZE, x, y);

    for (int64_t i = 0; i < s.count; i++)
        for (int64_t k = 0; k < s.taps; k++) {
            int64_t at = pool_at(&s, i, k);

            if (at >= 0)
                y->f[i] += x->f[at];
        }
}

static double sum_pool_work(const Graph *g, const Node *n) { return work_pool(n, SIZE, out(g, n)); }

static void sum_pool_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                            Kernel *k)
{
    kernel_pool(g, n, SIZE, in(g, n, 0), out(g, n), stride, k);
}

const OpDef op_sum_pool = {
    .name = "sum_pool",
    .n_in = 1,
    .attrs = {{"size", ATTR_INTS},
              {"stride", ATTR_INTS},
              {"low", ATTR_INTS},
              {"high", ATTR_INTS},
              {"dilation", ATTR_INTS}},
    .infer = infer_pool,
    .rule = sum_pool_rule,
    .grad = sum_pool_grad,
    .eval = sum_pool_eval,
    .kernel = sum_pool_kernel,
    .work = sum_pool_work,
    .no_split = POOL_NO_SPLIT,
};
