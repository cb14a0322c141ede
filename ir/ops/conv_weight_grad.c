// conv_weight_grad: the gradient of conv's weight.
#include "ir/operator/contract.h"

static const ConvPart order[] = {CONV_X, CONV_Y, CONV_W};

static bool conv_weight_grad_infer(Graph *g, Node *n, Diag *d)
{
    return infer_conv(g, n, order, d);
}

static void conv_weight_grad_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_conv(g, n, order, r);
}

static void conv_weight_grad_localise(Arena *a, const Node *n, const Rule *r, const int64_t *size,
                                      Attr *attr)
{
    localise_conv(a, n, order, r, size, attr);
}

static void conv_weight_grad_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                                  ValueId *dx)
{
    grad_conv(g, n, order, dy[0], want, dx);
}

static void conv_weight_grad_eval(const Graph *g, const Node *n, const NodeShard *p,
                                  const Tensor *x, Tensor *y)
{
    eval_conv(n, order, x, y);
}

static double conv_weight_grad_work(const Graph *g, const Node *n)
{
    return work_conv(g, n, order);
}

static void conv_weight_grad_kernel(const Graph *g, const Node *n,
                                    const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    kernel_conv(g, n, order, stride, k);
}

const OpDef op_conv_weight_grad = {
    .name = "conv_weight_grad",
    .n_in = 2,
    .attrs = {{"shape", ATTR_INTS},
              {"stride", ATTR_INTS},
              {"low", ATTR_INTS},
              {"high", ATTR_INTS},
              {"dilation", ATTR_INTS},
              {"groups", ATTR_INT, .missing = 1},
              {"to", ATTR_INT, .is_dtype = true}},
    .infer = conv_weight_grad_infer,
    .rule = conv_weight_grad_rule,
    .grad = conv_weight_grad_grad,
    .localise = conv_weight_grad_localise,
    .eval = conv_weight_grad_eval,
    .kernel = conv_weight_grad_kernel,
    .is_product = true,
    .narrow_in = 1 << 0 | 1 << 1,
    .work = conv_weight_grad_work,
    .no_split = CONV_NO_SPLIT,
};
