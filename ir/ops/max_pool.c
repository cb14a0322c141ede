// max_pool: the largest element under a window; padding counts as -inf.
#include <math.h>

#include "ir/operator/contract.h"

enum { SIZE };

static void max_pool_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    Window win;

    pool_window(n, SIZE, &win);
    dx[0] = make_max_pool_grad(g, n->in[0], dy[0], &win);
}

static void max_pool_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                          Tensor *y)
{
    Pool s = pool_of(n, SIZE, x, y);

    for (int64_t i = 0; i < s.count; i++) {
        int64_t at = pool_max(&s, x->f, i);

        y->f[i] = at < 0 ? -INFINITY : x->f[at];
    }
}

static double max_pool_work(const Graph *g, const Node *n) { return work_pool(n, SIZE, out(g, n)); }

static void max_pool_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                            Kernel *k)
{
    kernel_pool(g, n, SIZE, in(g, n, 0), out(g, n), stride, k);
}

const OpDef op_max_pool = {
    .name = "max_pool",
    .n_in = 1,
    .attrs = {{"size", ATTR_INTS},
              {"stride", ATTR_INTS},
              {"low", ATTR_INTS},
              {"high", ATTR_INTS},
              {"dilation", ATTR_INTS}},
    .infer = infer_pool,
    .rule = rule_pool,
    .grad = max_pool_grad,
    .eval = max_pool_eval,
    .kernel = max_pool_kernel,
    .work = max_pool_work,
    .no_split = POOL_NO_SPLIT,
    .is_choice = true,
};
