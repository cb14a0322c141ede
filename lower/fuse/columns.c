// Column sums of a fused group: over all dims that are walked outside of the innermost one, or over
// the dims next to it. In a channels-last region they are the sums of each channel.
#include "lower/fuse/emit.h"

static bool sums_over(const Node *n, int dim)
{
    for (int i = 0; i < n->attr[0].n; i++)
        if (n->attr[0].v[i] == dim)
            return true;
    return false;
}

bool is_column_sum(const Item *it, const Node *n)
{
    int axis[MAX_RANK];

    if (!it->group.has_columns || !n->op->is_sum)
        return false;
    layout_axes(it->rank, it->group.is_channels_last, axis);
    return !sums_over(n, axis[it->rank - 1]);
}

RtSums column_sums(const Graph *g, const Item *it)
{
    RtSums s = {.outer = 1, .rows = 1};
    int axis[MAX_RANK];

    layout_axes(it->rank, it->group.is_channels_last, axis);
    for (int i = 0; i < it->rank - 1; i++)
        *(i < it->group.column_rank ? &s.outer : &s.rows) *= it->dim[axis[i]];
    s.width = it->dim[axis[it->rank - 1]];
    for (int i = 0; i < it->n_nodes; i++)
        s.n += is_column_sum(it, &g->nodes[it->nodes[i]]);
    s.work = it->n_nodes;
    return s;
}

// How many of the outermost dims the sum keeps, if it sums over all others except the innermost;
// -1: it sums over other dims.
static int dims_outside(const Node *n, int rank, const int *axis)
{
    int kept = rank - 1 - n->attr[0].n;

    for (int i = kept; kept >= 0 && i < rank - 1; i++)
        if (!sums_over(n, axis[i]))
            return -1;
    return kept;
}

// rt_sums writes its sums densely: the row of the first index of the outer dims, then the next.
// Does the sum's output lie so? It doesn't if a later reader wants another order of dims, or if it
// is made in a subview of another value.
static bool is_dense(const Lowering *l, const Node *n, int kept, const int *axis)
{
    const Value *x = in(l->g, n, 0);
    const View *y = &l->view[n->out[0]];
    int64_t step = 1;

    for (int i = kept; i >= 0; i--) {
        // `at`: the dim in the sum's output
        int from = axis[i < kept ? i : x->rank - 1], at = from;
        for (int k = 0; k < n->attr[0].n; k++)
            at -= n->attr[0].v[k] < from;
        if (x->dim[from] > 1 && y->stride[at] != step)
            return false;
        step *= x->dim[from];
    }
    return true;
}

// The group that makes the sum's input, or a later one that reads it too; -1: there is none.
static int find_columns(const Emit *e, const Node *x, int kept)
{
    const Lowering *l = e->l;
    int from = l->item_of[l->view[x->in[0]].base] - 1;
    int first = from > l->s->n_items - LOOK_BACK ? from : l->s->n_items - LOOK_BACK;

    for (int i = l->s->n_items - 1; i >= first && i >= e->loop && i >= 0; i--) {
        const Item *it = &l->s->items[i];
        if (it->kind == ITEM_GROUP && it->region == e->r && it->n_nodes < MAX_GROUP_NODES &&
            same_domain(l, it, x->in[0]) &&
            (!it->group.has_columns || it->group.column_rank == kept) &&
            (i == from ? is_direct_result(l, x->in[0]) : shares_input(l, it, x)) &&
            l->g->nodes[it->nodes[0]].phase == x->phase)
            return i;
    }
    return -1;
}

bool emit_column_sum(Emit *e, NodeId n)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    const Value *v = in(l->g, x, 0);
    int axis[MAX_RANK];

    layout_axes(v->rank, l->is_channels_last[x->in[0]], axis);
    int kept = dims_outside(x, v->rank, axis);
    if (!l->o->fuse || kept < 0 || v->dtype != F32 ||
        v->dim[axis[v->rank - 1]] < l->o->target->least_columns || !is_dense(l, x, kept, axis))
        return false;
    int at = find_columns(e, x, kept);
    if (at < 0)
        at = add_group(e, x->in[0]);
    Item *it = &l->s->items[at];
    it->group.has_columns = true;
    it->group.column_rank = kept;
    group_append(e, at, n);
    return true;
}
