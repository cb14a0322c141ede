// sum_pool_grad: the gradient of sum_pool's input. Each element of dy is added to all elements
// under its window.
#include "ir/operator/contract.h"

enum { SHAPE, SIZE };

static bool sum_pool_grad_infer(Graph *g, Node *n, Diag *d)
{
    return infer_pool_grad(g, n, SIZE, n->attr[SHAPE].n, n->attr[SHAPE].v, d);
}

static void sum_pool_grad_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_pool(g, n, r);
    r->single = 1 << 0;
}

static void sum_pool_grad_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                               ValueId *dx)
{
    Window win;

    pool_window(n, SIZE, &win);
    dx[0] = make_sum_pool(g, dy[0], &win);
}

static void sum_pool_grad_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                               Tensor *y)
{
    Pool s = pool_of(n, SIZE, y, x);

    for (int64_t i = 0; i < s.count; i++)
        for (int64_t k = 0; k < s.taps; k++) {
            int64_t at = pool_at(&s, i, k);

            if (at >= 0)
                y->f[at] += x->f[i];
        }
}

static double sum_pool_grad_work(const Graph *g, const Node *n)
{
    return work_pool(n, SIZE, in(g, n, 0));
}

static void sum_pool_grad_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                                 Kernel *k)
{
    kernel_pool(g, n, SIZE, out(g, n), in(g, n, 0), stride, k);
}

const OpDef op_sum_pool_grad = {
    .name = "sum_pool_grad",
    .n_in = 1,
    .attrs = {{"shape", ATTR_INTS},
              {"size", ATTR_INTS},
              {"stride", ATTR_INTS},
              {"low", ATTR_INTS},
              {"high", ATTR_INTS},
              {"dilation", ATTR_INTS}},
    .infer = sum_pool_grad_infer,
    .rule = sum_pool_grad_rule,
    .grad = sum_pool_grad_grad,
    .localise = localise_shape,
    .eval = sum_pool_grad_eval,
    .kernel = sum_pool_grad_kernel,
    .work = sum_pool_grad_work,
    .no_split = POOL_NO_SPLIT,
};
