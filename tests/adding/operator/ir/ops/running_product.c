// running_product: the product of the elements up to each one along a dim.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { AXIS };

static bool running_product_infer(Graph *g, Node *n, Diag *d)
{
    return infer_axis(g, n, "axis", n->attr[AXIS].i, in(g, n, 0)->rank, d) &&
           infer_number_like(g, n, d);
}

static void running_product_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_along(g, n, r, (int)n->attr[AXIS].i);
}

// y[i] = Π x[0..i], so dx[j] = Σ (dy y)[j..] / x[j].
static void running_product_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                                 ValueId *dx)
{
    ValueId terms = make_mul(g, dy[0], n->out[0]);

    dx[0] = make_div(g, make_cumsum(g, terms, (int)n->attr[AXIS].i, false, true), n->in[0]);
}

static void running_product_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                                 Tensor *y)
{
    Along a = along(x->rank, x->dim, (int)n->attr[AXIS].i);

    for (int64_t row = 0; row < a.outer * a.inner; row++) {
        double product = 1;
        for (int64_t i = 0; i < a.n; i++) {
            int64_t k = (row / a.inner * a.n + i) * a.inner + row % a.inner;
            y->f[k] = product *= x->f[k];
        }
    }
}

static void running_product_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                                   Kernel *k)
{
    kernel_along(g, n, (int)n->attr[AXIS].i, stride, k);
}

static ValueId running_product_split(Graph *g, const Node *n, const Split *s)
{
    return make_running_product(g, s->in[0], s->operand[0].first[n->attr[AXIS].i]);
}

const OpDef op_running_product = {
    .name = "running_product",
    .n_in = 1,
    .attrs = {{"axis", ATTR_INT}},
    .infer = running_product_infer,
    .rule = running_product_rule,
    .split = running_product_split,
    .grad = running_product_grad,
    .eval = running_product_eval,
    .kernel = running_product_kernel,
    .flops = 1,
    .no_split = "a shard of the dim needs the products of the shards before it",
};
