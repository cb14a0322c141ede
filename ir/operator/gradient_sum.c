// The gradient of a broadcast value: the sum of its copies' gradients, without terms that are zero.
//
// A norm's mean gets, through the variance, a sum of deviations from the mean, which is 0. The
// remaining sum is also the gradient of the norm's bias. So a norm's gradient needs two successive
// sums and not three.
#include <math.h>
#include <string.h>

#include "ir/operator/operator.h"

enum { DEPTH = 8 };  // nodes of the deepest term that vanishes() looks at

typedef struct Axes {
    int n;
    const int64_t *at;
} Axes;

static bool is_summed(Axes axes, int64_t dim)
{
    for (int i = 0; i < axes.n; i++)
        if (axes.at[i] == dim)
            return true;
    return false;
}

static bool is_sum_of(const Graph *g, const Node *n, ValueId x, Axes axes)
{
    return n->op == &op_reduce_sum && n->in[0] == x && n->attr[REDUCE_AXES].n == axes.n &&
           !memcmp(n->attr[REDUCE_AXES].v, axes.at, sizeof *axes.at * (size_t)axes.n);
}

// Is m the mean of x, compensated or not?
static bool is_mean(const Graph *g, ValueId m, ValueId x, Axes axes)
{
    enum { ROUNDED = 20 };  // bits to which the factor must equal 1 / n
    const Node *n = producer(g, m);
    double factor;

    if (n->op == &op_compensate)
        return is_mean(g, n->in[0], x, axes);
    for (int i = 0; i < axes.n; i++)
        if (value_of(g, x)->dim[axes.at[i]] == 0)
            return false;
    for (int k = 0; k < 2 && n->op == &op_mul; k++)
        if (value_splat(g, n->in[1 - k], &factor) && is_sum_of(g, producer(g, n->in[k]), x, axes)) {
            double count =
                (double)value_count(value_of(g, x)) / (double)value_count(value_of(g, m));
            return fabs(factor * count - 1) < ldexp(1, -ROUNDED);
        }
    return false;
}

// The input of v if v is a broadcast along the axes, else 0.
static ValueId copied(const Graph *g, ValueId v, Axes axes)
{
    const Node *n = producer(g, v);

    if (n->op != &op_broadcast || n->attr[1].n != value_of(g, v)->rank - axes.n)
        return 0;
    for (int i = 0; i < n->attr[1].n; i++)
        if (is_summed(axes, n->attr[1].v[i]))
            return 0;
    return n->in[0];
}

// Is the sum of v along the axes 0 except for rounding errors?
static bool vanishes(const Graph *g, ValueId v, Axes axes, int depth)
{
    const Node *n = producer(g, v);
    ValueId a = n->n_in > 0 ? n->in[0] : 0, b = n->n_in > 1 ? n->in[1] : 0;

    if (depth == 0)
        return false;
    if (n->op == &op_sub)
        return is_mean(g, copied(g, b, axes), a, axes);
    if (n->op == &op_add)
        return vanishes(g, a, axes, depth - 1) && vanishes(g, b, axes, depth - 1);
    return n->op == &op_mul && ((copied(g, a, axes) && vanishes(g, b, axes, depth - 1)) ||
                                (copied(g, b, axes) && vanishes(g, a, axes, depth - 1)));
}

// The sum of x along the axes; an existing one if the backward nodes of the same iteration have it.
static ValueId shared_sum(Graph *g, ValueId x, Axes axes)
{
    NodeId from = value_of(g, x)->producer;

    for (NodeId i = g->n_nodes - 1; i > from; i--) {
        const Node *n = &g->nodes[i];
        if (n->phase != BACKWARD)
            break;
        if (is_sum_of(g, n, x, axes) && n->block.cls == g->block.cls &&
            n->block.iter == g->block.iter)
            return n->out[0];
    }
    return make_reduce_sum(g, x, axes.n, axes.at);
}

// The sum of v along the axes. Factors that are constant along them are multiplied after the sum.
static ValueId sum_of(Graph *g, ValueId v, Axes axes)
{
    Node n = *producer(g, v);

    if (n.op == &op_neg)
        return make_neg(g, sum_of(g, n.in[0], axes));
    for (int k = 0; k < 2 && n.op == &op_mul; k++)
        if (copied(g, n.in[k], axes))
            return make_mul(g, sum_of(g, n.in[1 - k], axes), copied(g, n.in[k], axes));
    return shared_sum(g, v, axes);
}

// The sum of the terms of v except those whose sum vanishes; 0: none does.
static ValueId sum_of_remaining(Graph *g, ValueId v, Axes axes)
{
    Node n = *producer(g, v);

    if (n.op == &op_neg) {
        ValueId y = sum_of_remaining(g, n.in[0], axes);
        return y ? make_neg(g, y) : 0;
    }
    for (int k = 0; k < 2 && n.op == &op_add; k++)
        if (vanishes(g, n.in[k], axes, DEPTH)) {
            ValueId y = sum_of_remaining(g, n.in[1 - k], axes);
            return y ? y : sum_of(g, n.in[1 - k], axes);
        }
    return 0;
}

ValueId gradient_sum(Graph *g, ValueId dy, int n_axes, const int64_t *axes)
{
    ValueId y = sum_of_remaining(g, dy, (Axes){n_axes, axes});

    return y ? y : make_reduce_sum(g, dy, n_axes, axes);
}
