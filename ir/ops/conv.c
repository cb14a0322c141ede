// conv: convolution over one to three spatial dims, with padding, strides, dilation and groups.
#include "ir/operator/contract.h"

static const ConvPart order[] = {CONV_X, CONV_W, CONV_Y};

static bool conv_infer(Graph *g, Node *n, Diag *d) { return infer_conv(g, n, order, d); }

static void conv_rule(const Graph *g, const Node *n, Rule *r) { rule_conv(g, n, order, r); }

static void conv_localise(Arena *a, const Node *n, const Rule *r, const int64_t *size, Attr *attr)
{
    localise_conv(a, n, order, r, size, attr);
}

static void conv_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    grad_conv(g, n, order, dy[0], want, dx);
}

static void conv_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x, Tensor *y)
{
    eval_conv(n, order, x, y);
}

static double conv_work(const Graph *g, const Node *n) { return work_conv(g, n, order); }

static void conv_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    kernel_conv(g, n, order, stride, k);
}

const OpDef op_conv = {
    .name = "conv",
    .n_in = 2,
    .attrs = {{"stride", ATTR_INTS},
              {"low", ATTR_INTS},
              {"high", ATTR_INTS},
              {"dilation", ATTR_INTS},
              {"groups", ATTR_INT, .missing = 1},
              {"to", ATTR_INT, .is_dtype = true}},
    .infer = conv_infer,
    .rule = conv_rule,
    .grad = conv_grad,
    .localise = conv_localise,
    .eval = conv_eval,
    .kernel = conv_kernel,
    .is_product = true,
    .narrow_in = 1 << 0 | 1 << 1,
    .work = conv_work,
    .no_split = CONV_NO_SPLIT,
};
