// reduce_max: the largest along some dims; NaN if one is NaN. For BOOL: is any of them true?
// `first` says which of equal ones has the gradient: the first instead of all, evenly.
#include <math.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void reduce_max_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_reduce(g, n, r, FACTOR_MAX);
}

static void reduce_max_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                            ValueId *dx)
{
    grad_extremum(g, n, dy[0], dx);
}

static void reduce_max_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                            Tensor *y)
{
    Fold fold = {-INFINITY, rt_max, dtype_least(x->dtype), rt_max_int};

    eval_reduce(n, &fold, x, y);
}

static void reduce_max_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                              Kernel *k)
{
    kernel_reduce(g, n, stride, k, RT_MAX);
}

const OpDef op_reduce_max = {
    .name = "reduce_max",
    .n_in = 1,
    .attrs = {{"axes", ATTR_INTS}, {"first", ATTR_INT}},
    .infer = infer_reduce,
    .rule = reduce_max_rule,
    .split = split_reduce,
    .grad = reduce_max_grad,
    .eval = reduce_max_eval,
    .kernel = reduce_max_kernel,
    .flops = 1,
    .is_choice = true,
};
