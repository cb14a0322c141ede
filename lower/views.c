// Which values are views of others, and how they lie in them.
#include "lower/internal.h"

bool operand_is_dense(const Operand *o, int rank, const int64_t *dim)
{
    int64_t dense[MAX_RANK];

    dense_strides(rank, dim, dense);
    for (int i = 0; i < rank; i++)
        if (dim[i] > 1 && o->stride[i] != dense[i])
            return false;
    return true;
}

bool is_view_node(const Lowering *l, const Node *n) { return l->view[n->out[0]].base != n->out[0]; }

static void set_own(Lowering *l, ValueId v)
{
    const Value *x = value_of(l->g, v);

    l->view[v].base = v;
    l->view[v].offset = 0;
    dense_strides(x->rank, x->dim, l->view[v].stride);
}

static bool set_view(Lowering *l, const Node *n)
{
    if (!n->op->view)
        return false;
    const View *from = &l->view[n->in[0]];
    View *to = &l->view[n->out[0]];
    int64_t offset = 0;

    if (!n->op->view(l->g, n, from->stride, to->stride, &offset))
        return false;
    to->base = from->base;
    to->offset = from->offset + offset;
    return true;
}

// What must have bytes of its own, densely: what the trainer reads and what lives on.
static bool *find_pinned(Lowering *l)
{
    bool *pinned = arena_array(l->p->arena, bool, l->g->n_values);

    for (int i = 0; i < l->g->n_outputs; i++)
        pinned[l->g->outputs[i].value] = true;
    for (int i = 0; i < l->g->n_carries; i++)
        pinned[l->g->carries[i].out] = true;
    return pinned;
}

bool lower_views(Lowering *l)
{
    const Graph *g = l->g;
    const bool *pinned = find_pinned(l);

    l->view = arena_array(l->p->arena, View, g->n_values);
    for (ValueId v = 1; v < g->n_values; v++)
        set_own(l, v);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (!pinned[n->out[0]])
            if (!set_view(l, n))
                set_own(l, n->out[0]);
    }
    return true;
}
