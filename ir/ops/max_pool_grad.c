// max_pool_grad: the gradient of max_pool's input. All of it goes to the first largest element
// under the window.
#include "ir/operator/contract.h"

enum { SIZE };

static bool max_pool_grad_infer(Graph *g, Node *n, Diag *d)
{
    return infer_pool_grad(g, n, SIZE, in(g, n, 0)->rank, in(g, n, 0)->dim, d);
}

static void max_pool_grad_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_pool(g, n, r);
    r->single = 1 << 1;
}

static void max_pool_grad_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                               Tensor *y)
{
    Pool s = pool_of(n, SIZE, &x[0], &x[1]);

    for (int64_t i = 0; i < s.count; i++) {
        int64_t at = pool_max(&s, x[0].f, i);

        if (at >= 0)
            y->f[at] += x[1].f[i];
    }
}

static double max_pool_grad_work(const Graph *g, const Node *n)
{
    return work_pool(n, SIZE, in(g, n, 1));
}

static void max_pool_grad_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                                 Kernel *k)
{
    kernel_pool(g, n, SIZE, in(g, n, 0), in(g, n, 1), stride, k);
}

const OpDef op_max_pool_grad = {
    .name = "max_pool_grad",
    .n_in = 2,
    .attrs = {{"size", ATTR_INTS},
              {"stride", ATTR_INTS},
              {"low", ATTR_INTS},
              {"high", ATTR_INTS},
              {"dilation", ATTR_INTS}},
    .infer = max_pool_grad_infer,
    .rule = max_pool_grad_rule,
    .eval = max_pool_grad_eval,
    .kernel = max_pool_grad_kernel,
    .work = max_pool_grad_work,
    .no_grad = "a gradient itself: only gradients of gradients would need it",
    .no_split = POOL_NO_SPLIT,
};
