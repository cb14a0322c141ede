// Recognises softmaxes and the guards after them, and rewrites the guards that the attention
// pattern leaves.
#include <float.h>
#include <math.h>

#include "ir/patterns/match.h"

// Is v the quotient *e / *sum, where *spread is the broadcast sum, or as in make_softmax the
// broadcast 1 / *sum that multiplies *e?
static bool quotient_of(const Match *m, ValueId v, const Node **e, ValueId *spread, ValueId *sum)
{
    const Node *n = made_by(m, v, &op_div), *part;
    bool is_div = n;

    if (!n && !(n = made_by(m, v, &op_mul)))
        return false;
    int at = !is_div && made_by(m, n->in[1], &op_exp);
    *e = made_by(m, n->in[at], &op_exp);
    *spread = n->in[!at];
    const Node *broadcast = made_by(m, *spread, &op_broadcast);
    if (!*e || !broadcast)
        return false;
    *sum = broadcast->in[0];
    if (is_div)
        return true;
    if (!(part = made_by(m, *sum, &op_div)) || !is_number(m, part->in[0], 1) || m->uses[*sum] != 1)
        return false;
    *sum = part->in[1];
    return true;
}

bool softmax_of(const Match *m, ValueId v, ValueId *x, int *axis)
{
    const Node *e, *low, *spread;
    const Attr *sum_axes, *max_axes;
    ValueId divisor, sum, parts, max, largest, of;

    if (!quotient_of(m, v, &e, &divisor, &sum) ||
        !is_reduced(m, sum, &op_reduce_sum, &of, &sum_axes) || of != e->out[0] ||
        !is_spread(m, divisor, sum_axes, &parts))
        return false;
    if (!(low = made_by(m, e->in[0], &op_sub)))
        return false;
    if (!(spread = made_by(m, low->in[1], &op_broadcast)))
        return false;
    const Node *floor = made_by(m, without_stop(m, spread->in[0]), &op_floor);
    largest = without_stop(m, floor ? floor->in[0] : spread->in[0]);
    if (!is_reduced(m, largest, &op_reduce_max, &of, &max_axes) ||
        without_stop(m, of) != low->in[0] || !is_spread(m, low->in[1], max_axes, &max))
        return false;
    if (sum_axes->n != 1 || !same_axes(sum_axes, max_axes))
        return false;
    *x = low->in[0];
    *axis = (int)sum_axes->v[0];
    // Other readers of the inner values would keep them alive.
    return m->uses[*x] == 2 && m->uses[low->out[0]] == 1 && m->uses[e->out[0]] == 2 &&
           m->uses[sum] == 1 && m->uses[max] == 1 && m->uses[largest] == 1 &&
           m->uses[divisor] == 1 && m->uses[low->in[1]] == 1;
}

ValueId without_guard(const Match *m, ValueId v)
{
    const Node *n = made_by(m, v, &op_select), *is_nan;

    if (!n || !(is_nan = made_by(m, n->in[0], &op_is_nan)))
        return v;
    ValueId p = n->in[2];
    bool is_guard = is_nan->in[0] == p && is_number(m, n->in[1], 0) && m->uses[p] == 2 &&
                    m->uses[n->in[0]] == 1;
    return is_guard ? p : v;
}

// ---- guards ----

// Is x the lowest number of its type?
static bool is_lowest(DType t, double x)
{
    return x <= (t == F64 ? -DBL_MAX : t == F16 ? -65504 : -3.38e38);  // bf16 ends at -3.39e38
}

// Is v the lowest number of its type, and 0 elsewhere?
static bool is_lowest_mask(const Match *m, ValueId v)
{
    const Value *x = value_of(m->g, v);
    const Node *n = x->producer ? producer(m->g, v) : NULL;
    const Fact *fact = fact_of(m->facts, v);
    double a, b;

    if (fact && fact->n_predicates) {
        a = fact->value.c;
        b = fact->other;
    } else if (n && n->op == &op_select) {
        if (!value_splat(m->g, n->in[1], &a) || !value_splat(m->g, n->in[2], &b))
            return false;
    } else {
        return n && n->n_in == 1 && n->op->view && is_lowest_mask(m, n->in[0]);
    }
    return (a == 0 && is_lowest(x->dtype, b)) || (b == 0 && is_lowest(x->dtype, a));
}

// True where a mask of is_lowest_mask is 0.
static ValueId kept_by(const Match *m, ValueId v)
{
    Graph *g = m->r->to;
    const Node *n = value_of(m->g, v)->producer ? producer(m->g, v) : NULL;

    if (n && n->op == &op_select) {
        ValueId c = now(m, n->in[0]);
        return is_number(m, n->in[1], 0) ? c : make_not(g, c);
    }
    if (n && n->n_in == 1 && n->op->view) {
        ValueId x = kept_by(m, n->in[0]);
        return graph_node(g, n->op, 1, &x, n->attr);
    }
    return make_eq(g, now(m, v), scalar_like(g, now(m, v), 0));
}

// Exporters add the lowest number instead of -inf to the scores of a guarded softmax, without
// which the guard has nothing to do. Puts -inf there.
static bool match_lowest(const Match *m, const Node *n)
{
    Graph *g = m->r->to;
    ValueId p = without_guard(m, n->out[0]), x;
    int axis, i = 0;

    if (p == n->out[0] || !softmax_of(m, p, &x, &axis))
        return false;
    const Node *sum = made_by(m, x, &op_add);
    while (sum && i < 2 && !is_lowest_mask(m, sum->in[i]))
        i++;
    if (!sum || i == 2)
        return false;
    ValueId scores = now(m, sum->in[1 - i]), keep = kept_by(m, sum->in[i]);
    x = make_select(g, keep, scores, scalar_like(g, scores, -INFINITY));
    p = make_softmax(g, x, axis);
    return replace(m, n, make_select(g, make_is_nan(g, p), scalar_like(g, p, 0), p));
}

bool guards_read(Graph *g, Diag *d) { return patterns_apply(g, (Pattern *[]){match_lowest}, 1, d); }

// A guard says that a row without a softmax, whose maximum isn't finite, has weights 0. So has its
// gradient: the row's scores are replaced, as 0 · NaN is NaN.
static bool match_guard(const Match *m, const Node *n)
{
    Graph *g = m->r->to;
    ValueId p = without_guard(m, n->out[0]), x;
    int64_t dims[MAX_RANK], axes[1];
    int axis, rank = out(m->g, n)->rank;

    if (p == n->out[0] || !softmax_of(m, p, &x, &axis))
        return false;
    for (int i = 0; i < rank - 1; i++)
        dims[i] = i + (i >= axis);
    axes[0] = axis;
    x = now(m, x);
    ValueId most = make_reduce_max(g, x, 1, axes);
    ValueId is_bad =
        make_broadcast(g, make_is_nan(g, make_sub(g, most, most)), rank, value_of(g, x)->dim, dims);
    ValueId zero = scalar_like(g, x, 0);
    p = make_softmax(g, make_select(g, is_bad, zero, x), axis);
    is_bad = make_or(g, is_bad, make_is_nan(g, p));
    return replace(m, n, make_select(g, is_bad, zero, p));
}

bool guards(Graph *g, Diag *d) { return patterns_apply(g, (Pattern *[]){match_guard}, 1, d); }
