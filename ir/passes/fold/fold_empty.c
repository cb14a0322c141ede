// Values without elements, and what operators make of them. Each empty value is a broadcast of a
// constant, so no node computes one, and none reads one: past keys of length 0, slices and parts
// that are empty, sums over nothing.
#include "ir/passes/fold/fold.h"

#include <math.h>
#include <string.h>

static bool is_empty(const Graph *g, ValueId v) { return v && !value_count(value_of(g, v)); }

static ValueId filled(Folder *f, const Value *like, ValueId scalar)
{
    if (!like->rank)
        return scalar;
    return fold_value(f, make_broadcast(f->g, scalar, like->rank, like->dim, NULL));
}

static ValueId filled_with(Folder *f, const Value *like, double x)
{
    return filled(f, like, fold_value(f, graph_scalar(f->g, like->dtype, x)));
}

// The reduction of no elements, in the shape of n's output.
static ValueId reduced(Folder *f, const Node *n)
{
    Value x = *in(f->g, n, 0), y = *out(f->g, n);
    const int64_t none = 0, axis = 0;
    Attr attrs[MAX_ATTRS];

    memcpy(attrs, n->attr, sizeof attrs);
    attrs[0] = (Attr){.v = &axis, .n = 1};  // axes

    x.rank = 1;
    x.dim[0] = none;
    ValueId nothing = filled_with(f, &x, 0);
    ValueId scalar = fold_share(f, graph_node(f->g, n->op, 1, &nothing, attrs));
    return filled(f, &y, fold_constant(f, scalar));
}

static bool has_empty_input(const Graph *g, const Node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (is_empty(g, n->in[i]))
            return true;
    return false;
}

ValueId fold_empty(Folder *f, ValueId v)
{
    enum { ONTO = 2, PADDING = 3 };  // an input of scatter, an attribute of pad
    static const OpDef *const sums[] = {&op_dot,      &op_conv,    &op_gather,
                                        &op_sum_pool, &op_scatter, &op_attention};
    Node n = *producer(f->g, v);
    Value y = *value_of(f->g, v);

    if (is_empty(f->g, v)) {
        bool is_done = n.op == &op_broadcast && is_constant(f, n.in[0]) && !is_empty(f->g, n.in[0]);
        return is_done ? 0 : filled_with(f, &y, 0);
    }
    if (!has_empty_input(f->g, &n))
        return 0;
    if (n.op == &op_reduce_sum || n.op == &op_reduce_max || n.op == &op_reduce_min)
        return reduced(f, &n);
    if (n.op == &op_pad)
        return filled_with(f, &y, n.attr[PADDING].f);
    if (n.op == &op_max_pool || (n.op == &op_attention && v == n.out[1]))
        return filled_with(f, &y, -(double)INFINITY);
    if (n.op == &op_scatter && n.n_in > ONTO && n.in[ONTO])
        return n.in[ONTO];
    for (int i = 0; i < COUNT(sums); i++)
        if (n.op == sums[i])
            return filled_with(f, &y, 0);
    return 0;
}
