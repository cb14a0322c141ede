// Recognises values that are at most 1 by construction, whose exponentials don't overflow: the
// exponents of softmaxes, losses and Gaussians.
#include <string.h>

#include "ir/operator/operator.h"

enum { REDUCTION = EXCHANGE_OWN };

// Is n's output larger than its input - 1?
static bool keeps_up(const Node *n)
{
    return n->op == &op_floor || n->op == &op_stop_gradient ||
           (n->op == &op_all_reduce && strcmp(n->attr[REDUCTION].s, "max") == 0);
}

static bool has_common(const Attr *a, const Attr *b)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++)
            if (a->v[i] == b->v[k])
                return true;
    return false;
}

// Is v the maximum of x along some dims, rounded down or not, broadcast along them to x's shape?
// With may_bound, the maximum may be bounded by numbers.
static bool is_spread_max(const Graph *g, ValueId v, ValueId x, bool may_bound)
{
    enum { DIMS = 1 };
    const Node *spread = producer(g, v);

    if (spread->op != &op_broadcast)
        return false;
    const Node *n = producer(g, spread->in[0]);
    while (keeps_up(n) || (may_bound && (n->op == &op_max || n->op == &op_min)))
        n = producer(g, n->in[0]);
    return n->op == &op_reduce_max && n->in[0] == x &&
           !has_common(&spread->attr[DIMS], &n->attr[REDUCE_AXES]);
}

static bool is_size(const Graph *g, ValueId v)
{
    const Node *n = producer(g, v);

    return n->op == &op_abs || (n->op == &op_mul && n->in[0] == n->in[1]);
}

bool value_is_shifted(const Graph *g, ValueId v)
{
    const Node *n = producer(g, v);

    return n->op == &op_sub && is_spread_max(g, n->in[1], n->in[0], true);
}

bool value_is_low(const Graph *g, ValueId v)
{
    const Node *n = producer(g, v);

    return (n->op == &op_sub && is_spread_max(g, n->in[1], n->in[0], false)) ||
           (n->op == &op_neg && is_size(g, n->in[0]));
}
