// Answers small questions about a graph for several patterns.
#include <string.h>

#include "ir/patterns/match.h"

const Node *made_by(const Match *m, ValueId v, const OpDef *op)
{
    const Node *n = producer(m->g, v);

    return value_of(m->g, v)->producer && n->op == op ? n : NULL;
}

ValueId without_stop(const Match *m, ValueId v)
{
    const Node *n = made_by(m, v, &op_stop_gradient);

    return n ? n->in[0] : v;
}

bool is_number(const Match *m, ValueId v, double x)
{
    double y;

    return value_splat(m->g, v, &y) && y == x;
}

bool made_with_number(const Match *m, ValueId v, const OpDef *op, ValueId *x, double *number)
{
    const Node *n = made_by(m, v, op);

    if (!n)
        return false;
    if (value_splat(m->g, n->in[1], number)) {
        *x = n->in[0];
        return true;
    }
    *x = n->in[1];
    return (op == &op_mul || op == &op_add) && value_splat(m->g, n->in[0], number);
}

bool is_square(const Match *m, ValueId v, ValueId *x)
{
    const Node *n = made_by(m, v, &op_mul);
    double power;

    if (n) {
        *x = n->in[0];
        return n->in[0] == n->in[1];
    }
    return made_with_number(m, v, &op_pow, x, &power) && power == 2;
}

bool is_reduced(const Match *m, ValueId v, const OpDef *op, ValueId *x, const Attr **axes)
{
    const Node *n = made_by(m, v, op);

    if (!n)
        return false;
    *x = n->in[0];
    *axes = &n->attr[0];
    return true;
}

bool is_mean(const Match *m, ValueId v, ValueId *x, const Attr **axes)
{
    ValueId sum;
    double factor, count = 1;
    bool divides = made_with_number(m, v, &op_div, &sum, &factor);

    if (!divides && !made_with_number(m, v, &op_mul, &sum, &factor))
        return false;
    if (!dtype_is_float(value_of(m->g, v)->dtype))
        return false;
    if (!is_reduced(m, sum, &op_reduce_sum, x, axes))
        return false;
    for (int i = 0; i < (*axes)->n; i++)
        count *= (double)value_of(m->g, *x)->dim[(*axes)->v[i]];
    // The factor is 1 / n rounded to the value's dtype.
    double wanted = round_float(value_of(m->g, v)->dtype, divides ? count : 1 / count);
    return factor == wanted;
}

bool is_spread(const Match *m, ValueId v, const Attr *axes, ValueId *s)
{
    const Node *n = made_by(m, v, &op_broadcast);
    int next = 0, axis = 0;

    if (!n)
        return false;
    const Attr *dims = &n->attr[1];
    *s = n->in[0];
    for (int i = 0; i < value_of(m->g, v)->rank; i++) {
        if (axis < axes->n && axes->v[axis] == i)
            axis++;
        else if (next >= dims->n || dims->v[next++] != i)
            return false;
    }
    return axis == axes->n && next == dims->n;
}

bool same_axes(const Attr *a, const Attr *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->v, b->v, sizeof *a->v * (size_t)a->n) == 0);
}

bool replace(const Match *m, const Node *n, ValueId v)
{
    Value *y = value_edit(m->r->to, v);

    m->r->map[n->out[0]] = v;
    if (v && !y->name && y->producer)
        y->name = out(m->g, n)->name;
    return v != 0;
}
