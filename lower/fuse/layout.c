// Finds the order of dims in memory: convolutional regions keep channels last.
//
// The target says which operands its kernels read fastest with channels last
// (target_channels_last). Values that are read element by element together with such an operand
// form a region with it, so that no pass over memory transposes. The region's groups are walked in
// that order, and ranks exchange its values in it. Values that the trainer sees keep their own
// order; at the region's edge they are accessed through strides, or copied.
//
// Rows of halves that a product reads or writes begin where the target loads them fastest
// (target_row_bytes): padding follows their last dim. Strides say so; nobody reads it or writes it.
#include "lower/internal.h"

typedef struct LayoutSets {
    const Lowering *l;
    ValueId *parent;         // by ValueId: a forest in which each tree is a region
    bool *is_channels_last;  // by ValueId of roots
} LayoutSets;

static ValueId root(LayoutSets *r, ValueId v)
{
    while (r->parent[v] != v)
        v = r->parent[v] = r->parent[r->parent[v]];
    return v;
}

static void unite(LayoutSets *r, ValueId v, ValueId w)
{
    if (value_of(r->l->g, v)->rank == value_of(r->l->g, w)->rank)
        r->parent[root(r, v)] = root(r, w);
}

// Does the output take elements of the input and keep the order of dims, as a slice does? The
// operator's view tells.
static bool keeps_dims(const Graph *g, const Node *n)
{
    const Value *x = in(g, n, 0), *y = out(g, n);
    int64_t probe[MAX_RANK] = {0}, seen[MAX_RANK], offset = 0;

    for (int i = 0; i < x->rank; i++)
        probe[i] = (int64_t)1 << (4 * i + 8);
    if (x->rank != y->rank || !n->op->view(g, n, probe, seen, &offset))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (y->dim[i] > 1 && seen[i] != probe[i])
            return false;
    return true;
}

static void unite_operands(LayoutSets *r, const Node *n)
{
    const Graph *g = r->l->g;
    bool is_one =
        n->op->expr || n->op->subview || n->op->exchange || (n->op->view && keeps_dims(g, n));

    for (int k = 0; is_one && k < n->n_in; k++)
        unite(r, n->in[k], n->out[0]);
    if (n->block.cls)
        for (int k = 0; k < n->n_out; k++)
            unite(r, n->out[k], value_instance(r->l, n->out[k], 0));
}

// ---- rows ----

// The elements of a row with its padding, if rows of halves are best at multiples of `bytes`; 0: it
// has none. Long padding of a short row would cost more than it gives.
static int64_t padded_row(const Value *v, int bytes)
{
    enum { MIN_SHARE = 4 };  // of a row, for each element of padding
    int64_t n = v->rank < 2 || !dtype_is_half(v->dtype) ? 0 : v->dim[v->rank - 1];
    int64_t padding = (bytes - n * 2 % bytes) % bytes / 2;

    return padding && value_count(v) > n && padding <= n / MIN_SHARE ? n + padding : 0;
}

// Pads the rows of the operand, or of the values that it may be a view of.
static void pad_rows_of(Lowering *l, const bool *is_fixed, ValueId v, int bytes)
{
    const Graph *g = l->g;

    for (; v && value_of(g, v)->producer; v = producer(g, v)->in[0]) {
        ValueId first = value_instance(l, v, 0);
        if (!is_fixed[first] && !l->is_channels_last[v])
            l->row[first] = padded_row(value_of(g, v), bytes);
        if (!producer(g, v)->op->view)
            return;
    }
}

// Ranks exchange rows without padding.
static void pad_rows(Lowering *l, bool *is_fixed)
{
    const Graph *g = l->g;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; n->op->exchange && k < n->n_in + n->n_out; k++)
            is_fixed[value_instance(l, operand_value(n, k), 0)] = true;
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        int bytes = target_row_bytes(l->o->target, n);
        for (int k = 0; bytes && k < n->n_in + n->n_out; k++)
            pad_rows_of(l, is_fixed, operand_value(n, k), bytes);
    }
    for (ValueId v = 1; v < g->n_values; v++)
        l->row[v] = l->row[value_instance(l, v, 0)];
}

// ---- orders of dims ----

// Values keep the user's order of dims if the user sees them: parameters, data, outputs and
// carries.
static bool *find_user_order(Lowering *l)
{
    const Graph *g = l->g;
    bool *has_user_order = arena_array(l->p->arena, bool, g->n_values);

    for (int i = 0; i < g->n_outputs; i++)
        has_user_order[value_instance(l, g->outputs[i].value, 0)] = true;
    for (int i = 0; i < g->n_carries; i++)
        has_user_order[value_instance(l, g->carries[i].out, 0)] = true;
    for (ValueId v = 1; v < g->n_values; v++)
        l->is_stored_channels_last[v] = l->is_channels_last[v] && value_of(g, v)->producer &&
                                        !has_user_order[value_instance(l, v, 0)];
    return has_user_order;
}

bool lower_layout(Lowering *l)
{
    const Graph *g = l->g;
    Arena *a = l->p->arena;
    LayoutSets r = {.l = l};

    r.parent = arena_array(a, ValueId, g->n_values);
    r.is_channels_last = arena_array(a, bool, g->n_values);
    l->is_channels_last = arena_array(a, bool, l->cap_values);
    l->is_stored_channels_last = arena_array(a, bool, l->cap_values);
    l->row = arena_array(a, int64_t, l->cap_values);
    for (ValueId v = 1; v < g->n_values; v++)
        r.parent[v] = v;
    for (NodeId i = 1; i < g->n_nodes; i++)
        unite_operands(&r, &g->nodes[i]);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        uint64_t last = target_channels_last(l->o->target, n);
        for (int k = 0; last && k < n->n_in + n->n_out; k++)
            if (last >> k & 1)
                r.is_channels_last[root(&r, operand_value(n, k))] = true;
    }
    for (ValueId v = 1; v < g->n_values; v++)
        l->is_channels_last[v] = r.is_channels_last[root(&r, v)];
    pad_rows(l, find_user_order(l));
    return true;
}

void layout_axes(int rank, bool is_channels_last, int *axis)
{
    for (int i = 0; i < rank; i++)
        axis[i] = i;
    for (int i = 1; is_channels_last && i < rank; i++)
        axis[i] = i + 1 < rank ? i + 1 : 1;
}

void layout_strides(int rank, const int64_t *dim, bool is_channels_last, int64_t *stride)
{
    int axis[MAX_RANK];
    int64_t step = 1;

    layout_axes(rank, is_channels_last, axis);
    for (int i = rank - 1; i >= 0; i--) {
        stride[axis[i]] = step;
        step *= dim[axis[i]];
    }
}
