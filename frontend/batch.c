// Finds the batch: the dim of each value that micro-batches split. Random numbers are counted over
// the whole batch, so the nodes that make them must know it.
#include "frontend/internal.h"

// The dim of y that corresponds to dim `axis` of x under a reshape: the one with as many elements
// before it.
static int reshaped(const Value *x, int axis, const Value *y)
{
    int64_t before = 1, count = 1;

    for (int d = 0; d < axis; d++)
        before *= x->dim[d];
    for (int d = 0; d < y->rank; d++) {
        if (count == before && y->dim[d] > 1)
            return d;
        count *= y->dim[d];
    }
    return -1;
}

static int axis_of_output(Import *x, const Node *n)
{
    const Value *y = out(x->g, n);
    Rule r = {0};

    node_rule(x->scratch, x->g, n, &r);
    for (int i = 0; i < n->n_in; i++) {
        int axis = n->in[i] ? x->batch_axis[n->in[i]] - 1 : -1;
        if (axis < 0)
            continue;
        for (int d = 0; d < y->rank; d++)
            if (r.dim[n->n_in][d] == r.dim[i][axis])
                return d;
        const Value *v = in(x->g, n, i);
        if (n->n_in == 1 && value_count(v) == value_count(y))
            return reshaped(v, axis, y);
    }
    return -1;
}

int batch_axis(Import *x, ValueId of)
{
    while (x->n_batch_axis < x->g->n_values) {
        ValueId v = x->n_batch_axis;
        const Value *value = value_of(x->g, v);
        int axis = -1;
        if (v && value->kind == VALUE_INPUT)
            axis = value->rank ? 0 : -1;
        else if (v && value->producer && producer(x->g, v)->out[0] == v)
            axis = axis_of_output(x, producer(x->g, v));
        int8_t *to = arena_push(x->scratch, x->batch_axis, x->n_batch_axis, x->cap_batch_axis);
        *to = (int8_t)(axis + 1);
    }
    return x->batch_axis[of] - 1;
}
