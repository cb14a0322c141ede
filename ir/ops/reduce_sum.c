// reduce_sum: the sum along some dims. That of halves is f32.
#include "ir/operator/atoms.h"
#include "ir/operator/contract.h"
#include "runtime/rt_scalar.h"

static bool reduce_sum_infer(Graph *g, Node *n, Diag *d)
{
    if (!infer_number(g, n, 0, d) || !infer_reduce(g, n, d))
        return false;
    if (dtype_is_half(in(g, n, 0)->dtype))
        value_edit(g, n->out[0])->dtype = F32;
    return true;
}

static void reduce_sum_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_reduce(g, n, r, FACTOR_SUM);
    r->joint = 1;
}

static void reduce_sum_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                            ValueId *dx)
{
    const Attr *axes = &n->attr[REDUCE_AXES];

    dx[0] = broadcast_over(g, product_gradient(g, n, dy[0]), n->in[0], axes->n, axes->v);
}

static double add(double a, double b) { return a + b; }

static void reduce_sum_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                            Tensor *y)
{
    eval_reduce(n, &(Fold){.join = add, .join_int = rt_add_int}, x, y);
}

static void reduce_sum_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                              Kernel *k)
{
    kernel_reduce(g, n, stride, k, RT_SUM);
}

const OpDef op_reduce_sum = {
    .name = "reduce_sum",
    .n_in = 1,
    .attrs = {{"axes", ATTR_INTS}},
    .infer = reduce_sum_infer,
    .rule = reduce_sum_rule,
    .split = split_reduce,
    .grad = reduce_sum_grad,
    .eval = reduce_sum_eval,
    .kernel = reduce_sum_kernel,
    .is_sum = true,
    .flops = 1,
};
