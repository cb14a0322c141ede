// Copies a graph in f64.
#include <string.h>

#include "ir/build.h"
#include "ir/values/values.h"

// A rounding to a half is none in f64.
static DType widened(DType t) { return dtype_is_float(t) ? F64 : t; }

static ValueId widen_value(Arena *a, Graph *to, const Value *x)
{
    Value *y;
    ValueId v;

    if (x->kind == VALUE_CONSTANT && dtype_is_float(x->dtype)) {
        Tensor t = tensor_of(a, x);
        return graph_constant(to, F64, x->rank, x->dim, t.f);
    }
    if (x->kind == VALUE_CONSTANT)
        return graph_constant(to, x->dtype, x->rank, x->dim, x->data);
    v = graph_value(to, x->kind, x->name, widened(x->dtype), x->rank, x->dim);
    y = value_edit(to, v);
    y->fill = x->fill;
    y->own_rank = x->own_rank;
    memcpy(y->own_dim, x->own_dim, sizeof y->own_dim);
    return v;
}

static bool widen_node(Graph *to, const Node *n, ValueId *map)
{
    ValueId *in = arena_array(to->arena, ValueId, n->n_in + 1);
    Attr attr[MAX_ATTRS];

    memcpy(attr, n->attr, sizeof attr);
    for (int i = 0; i < n->n_in; i++)
        in[i] = map[n->in[i]];
    for (int i = 0; i < MAX_ATTRS; i++)
        if (n->op->attrs[i].is_dtype)
            attr[i].i = (int64_t)widened((DType)attr[i].i);
    to->source = n->source;
    to->phase = n->phase;
    ValueId y = graph_node(to, n->op, n->n_in, in, attr);
    for (int i = 0; i < n->n_out && y; i++) {
        ValueId z = graph_output_of(to, y, i);
        DType t = value_of(to, z)->dtype;
        map[n->out[i]] = t == widened(t) ? z : make_cast(to, z, widened(t));
    }
    return y != 0;
}

Graph *graph_widen(Arena *a, const Graph *g, ValueId **map, Diag *d)
{
    Graph *to = graph_new(a, "wide");
    ValueId *m = *map = arena_array(a, ValueId, g->n_values);

    to->training = g->training;
    to->diag = d;
    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer)
            m[v] = widen_value(a, to, value_of(g, v));
    for (NodeId n = 1; n < g->n_nodes; n++)
        if (!widen_node(to, &g->nodes[n], m))
            return NULL;
    for (int i = 0; i < g->n_outputs; i++)
        graph_output_like(to, &g->outputs[i], m[g->outputs[i].value]);
    for (int i = 0; i < g->n_carries; i++)
        graph_carry(to, m[g->carries[i].in], m[g->carries[i].out], g->carries[i].scope);
    return to;
}
