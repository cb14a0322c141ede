// reduce_min: the smallest along some dims; NaN if one is NaN. For BOOL: are all of them true?
// `first` is as in reduce_max.
#include <math.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

static void reduce_min_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_reduce(g, n, r, FACTOR_MIN);
}

static void reduce_min_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                            ValueId *dx)
{
    grad_extremum(g, n, dy[0], dx);
}

static void reduce_min_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                            Tensor *y)
{
    Fold fold = {INFINITY, rt_min, dtype_most(x->dtype), rt_min_int};

    eval_reduce(n, &fold, x, y);
}

static void reduce_min_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                              Kernel *k)
{
    kernel_reduce(g, n, stride, k, RT_MIN);
}

const OpDef op_reduce_min = {
    .name = "reduce_min",
    .n_in = 1,
    .attrs = {{"axes", ATTR_INTS}, {"first", ATTR_INT}},
    .infer = infer_reduce,
    .rule = reduce_min_rule,
    .split = split_reduce,
    .grad = reduce_min_grad,
    .eval = reduce_min_eval,
    .kernel = reduce_min_kernel,
    .flops = 1,
    .is_choice = true,
};
