// cumsum: the running sum along one dim; without the element itself if exclusive, from the end if
// reverse.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

enum { AXIS, EXCLUSIVE, REVERSE };

static bool cumsum_infer(Graph *g, Node *n, Diag *d)
{
    return infer_axis(g, n, "axis", n->attr[AXIS].i, in(g, n, 0)->rank, d) &&
           infer_number_like(g, n, d);
}

static void cumsum_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_along(g, n, r, (int)n->attr[AXIS].i);
    r->joint = 1;
}

static void cumsum_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    dx[0] = make_cumsum(g, dy[0], (int)n->attr[AXIS].i, n->attr[EXCLUSIVE].i, !n->attr[REVERSE].i);
}

static void cumsum_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                        Tensor *y)
{
    Along a = along(x->rank, x->dim, (int)n->attr[AXIS].i);
    bool exclusive = n->attr[EXCLUSIVE].i, reverse = n->attr[REVERSE].i;

    for (int64_t row = 0; row < a.outer * a.inner; row++) {
        double sum = 0;
        int64_t sum_int = 0;

        for (int64_t i = 0; i < a.n; i++) {
            int64_t at = reverse ? a.n - 1 - i : i;
            int64_t k = (row / a.inner * a.n + at) * a.inner + row % a.inner;

            if (y->f) {
                y->f[k] = exclusive ? sum : sum + x->f[k];
                sum += x->f[k];
            } else {
                y->i[k] = exclusive ? sum_int : rt_add_int(sum_int, x->i[k]);
                sum_int = rt_add_int(sum_int, x->i[k]);
            }
        }
    }
}

static void cumsum_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                          Kernel *k)
{
    kernel_along(g, n, (int)n->attr[AXIS].i, stride, k);
    k->params.along.exclusive = n->attr[EXCLUSIVE].i != 0;
    k->params.along.reverse = n->attr[REVERSE].i != 0;
}

static ValueId cumsum_split(Graph *g, const Node *n, const Split *s)
{
    return make_cumsum(g, s->in[0], s->operand[0].first[n->attr[AXIS].i], n->attr[EXCLUSIVE].i,
                       n->attr[REVERSE].i);
}

const OpDef op_cumsum = {
    .name = "cumsum",
    .n_in = 1,
    .attrs = {{"axis", ATTR_INT}, {"exclusive", ATTR_INT}, {"reverse", ATTR_INT}},
    .infer = cumsum_infer,
    .rule = cumsum_rule,
    .split = cumsum_split,
    .grad = cumsum_grad,
    .eval = cumsum_eval,
    .kernel = cumsum_kernel,
    .flops = 1,
    .no_split = "a shard of the summed dim needs the sums of the shards before it",
};
