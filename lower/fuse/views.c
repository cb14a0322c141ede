// Finds which values are views of others, and how they lie in them.
#include <string.h>

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

bool is_view_node(const Lowering *l, const Node *n)
{
    return l->view[n->out[0]].base != n->out[0] && !l->made_in[n->out[0]];
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
    to->rank_slice = from->rank_slice;
    return true;
}

// The dim along which node `n` takes each rank's shard of its only input; -1: it does something
// else.
static int sliced_dim(const Lowering *l, const Node *n)
{
    const Sharded *s = l->s->sharded;
    const ShardedNode *x = s ? &s->node[n - l->g->nodes] : NULL;
    int i = 0;

    if (!x || x->of || x->kind != RESHARD_SLICE)
        return -1;
    while (i < out(l->g, n)->rank && in(l->g, n, 0)->dim[i] == out(l->g, n)->dim[i])
        i++;
    return i < out(l->g, n)->rank ? i : -1;
}

// Makes a rank's shard a view of the whole value, if all shards are dense and of one size.
static bool set_rank_slice(Lowering *l, const Node *n)
{
    const Sharded *s = l->s->sharded;
    const Value *y = out(l->g, n);
    int dim = sliced_dim(l, n);
    int64_t dense[MAX_RANK];
    RtCut cut;

    if (dim < 0 || !value_split(s, n->out[0], dim, &cut) || split_is_uneven(&s->plan->mesh, &cut) ||
        !is_sliced_in_place(value_of(s->whole, s->value[n->out[0]].of)))
        return false;
    ValueId whole = n->in[0];
    while (value_of(l->g, whole)->producer && sliced_dim(l, producer(l->g, whole)) == dim)
        whole = producer(l->g, whole)->in[0];
    View to = l->view[whole];
    dense_strides(y->rank, y->dim, dense);
    for (int i = 0; i < y->rank; i++)
        if (y->dim[i] > 1 && to.stride[i] != dense[i])
            return false;
    if (to.rank_slice.slice)
        return false;
    to.rank_slice = (RankSlice){n->out[0], whole, dim, to.stride[dim]};
    l->view[n->out[0]] = to;
    return true;
}

static void set_owns_bytes(const Lowering *l, ValueId v, bool *owns_bytes)
{
    Block b = value_block(l->g, v);

    for (int i = 0; i < (b.cls ? l->g->classes[b.cls].length : 1); i++)
        owns_bytes[value_instance(l, v, i)] = true;
}

// Finds the values that must have dense bytes of their own: the trainer reads them, or they live
// on. One iteration of a loop represents all, so their instances have bytes of their own too.
static bool *find_owners(Lowering *l)
{
    bool *owns_bytes = arena_array(l->p->arena, bool, l->g->n_values);

    for (int i = 0; i < l->g->n_outputs; i++)
        set_owns_bytes(l, l->g->outputs[i].value, owns_bytes);
    for (int i = 0; i < l->g->n_carries; i++)
        set_owns_bytes(l, l->g->carries[i].out, owns_bytes);
    return owns_bytes;
}

// ---- bases ----

// Can the operator's code write its output `k` with these strides?
static bool writes_strided(const Lowering *l, const Node *n, int k, const int64_t *stride)
{
    int count = n->n_in + n->n_out;
    Arena *a = arena_new();
    int64_t(*all)[MAX_RANK] = arena_alloc(a, (size_t)count, sizeof *all);
    Kernel kernel = {.want = arena_alloc(a, (size_t)count, sizeof *all)};

    if (n->op->expr || !n->op->kernel) {
        arena_free(a);
        return n->op->expr != NULL;
    }
    for (int i = 0; i < count; i++) {
        const Value *v = i < n->n_in ? in(l->g, n, i) : value_of(l->g, n->out[i - n->n_in]);
        dense_strides(v->rank, v->dim, all[i]);
    }
    memcpy(all[n->n_in + k], stride, sizeof all[0]);
    node_kernel(l->g, n, (const int64_t(*)[MAX_RANK])all, &kernel);
    bool ok = kernel.def && !(kernel.copies >> (n->n_in + k) & 1);
    arena_free(a);
    return ok;
}

static int output_index(const Node *n, ValueId v)
{
    int k = 0;

    while (n->out[k] != v)
        k++;
    return k;
}

// Lets padding follow the rows of the value's own bytes, if the operator can write them so.
static void pad_row(Lowering *l, ValueId v)
{
    const Value *x = value_of(l->g, v);
    const Node *n = producer(l->g, v);
    int64_t stride[MAX_RANK];

    memcpy(stride, l->view[v].stride, sizeof stride);
    for (int i = 0; i + 1 < x->rank; i++)
        stride[i] = stride[i] / x->dim[x->rank - 1] * l->row[v];
    if (n->op->view || n->op->subview || !writes_strided(l, n, output_index(n, v), stride))
        l->row[v] = 0;
    else
        memcpy(l->view[v].stride, stride, sizeof stride);
}

// Gives a value bytes of its own, in its region's order of dims if the operator can write it so.
static void set_base(Lowering *l, ValueId v)
{
    const Value *x = value_of(l->g, v);
    const Node *n = producer(l->g, v);
    View *view = &l->view[v];
    bool is_channels_last = l->is_stored_channels_last[v] && !n->op->view;

    view->base = v;
    view->offset = 0;
    view->rank_slice = (RankSlice){0};
    layout_strides(x->rank, x->dim, is_channels_last, view->stride);
    if (is_channels_last && !n->op->subview &&
        !writes_strided(l, n, output_index(n, v), view->stride))
        layout_strides(x->rank, x->dim, false, view->stride);
    if (l->row[v])
        pad_row(l, v);
}

// ---- values made in a subview of another ----

static bool is_same_block_and_phase(const Node *a, const Node *b)
{
    return a->phase == b->phase && a->block.cls == b->block.cls && a->block.iter == b->block.iter;
}

// Does each dim of node `n`'s input keep its stride in the view that it makes, where dims of size 1
// come or go? If so, turns strides of its output into those of its input.
static bool undo_unsqueeze(const Lowering *l, const Node *n, int64_t *stride)
{
    const Value *x = in(l->g, n, 0), *y = out(l->g, n);
    int64_t probe[MAX_RANK] = {0}, seen[MAX_RANK], result[MAX_RANK] = {0}, offset = 0;

    for (int i = 0; i < x->rank; i++)
        probe[i] = (int64_t)1 << (4 * i + 8);
    if (!n->op->view(l->g, n, probe, seen, &offset) || offset || value_count(x) != value_count(y))
        return false;
    for (int i = 0; i < x->rank; i++) {
        int at = 0;
        if (x->dim[i] == 1)
            continue;
        while (at < y->rank && (seen[at] != probe[i] || y->dim[at] != x->dim[i]))
            at++;
        if (at == y->rank)
            return false;
        result[i] = stride[at];
    }
    memcpy(stride, result, sizeof result);
    return true;
}

// Does the view that node `n` makes of a dense input have these strides? If so, turns them into
// those of its input.
static bool undo_reshape(const Lowering *l, const Node *n, int64_t *stride)
{
    const Value *x = in(l->g, n, 0), *y = out(l->g, n);
    int64_t dense[MAX_RANK] = {0}, seen[MAX_RANK], offset = 0;

    dense_strides(x->rank, x->dim, dense);
    if (!n->op->view(l->g, n, dense, seen, &offset) || offset || value_count(x) != value_count(y))
        return false;
    for (int i = 0; i < y->rank; i++)
        if (y->dim[i] > 1 && seen[i] != stride[i])
            return false;
    memcpy(stride, dense, sizeof dense);
    return true;
}

// Lets input k of node `i` be made in the node's result, if its producer can: the input, or the
// value that it is a view of, becomes a view of the result.
static void make_in_result(Lowering *l, NodeId i, int k, const bool *owns_bytes)
{
    const Graph *g = l->g;
    const Node *n = &g->nodes[i], *from;
    int64_t whole[MAX_RANK], offset;
    View view = {.base = n->out[0]};
    ValueId v = n->in[k];

    layout_strides(out(g, n)->rank, out(g, n)->dim, l->is_stored_channels_last[n->out[0]], whole);
    n->op->subview(g, n, k, whole, view.stride, &offset);
    view.offset = offset;
    for (;; v = from->in[0]) {
        from = producer(g, v);
        if (!value_of(g, v)->producer || owns_bytes[v] || l->made_in[v] ||
            !is_same_block_and_phase(from, n))
            return;
        if (!from->op->view)
            break;
        if (!undo_unsqueeze(l, from, view.stride) && !undo_reshape(l, from, view.stride))
            return;
    }
    if (from->op->subview || !writes_strided(l, from, output_index(from, v), view.stride))
        return;
    l->made_in[v] = i;
    l->view[v] = view;
}

// Finds the inputs of concats that can be made in the result. An operator with a fill is left out:
// it writes all of its output first.
static void make_all_in_results(Lowering *l, const bool *owns_bytes)
{
    for (NodeId i = 1; i < l->g->n_nodes; i++) {
        const Node *n = &l->g->nodes[i];
        for (int k = 0; n->op->subview && !n->op->fill && k < n->n_in; k++)
            make_in_result(l, i, k, owns_bytes);
    }
}

static void set_views(Lowering *l, const bool *owns_bytes)
{
    const Graph *g = l->g;

    for (ValueId v = 1; v < g->n_values; v++)
        if (!l->made_in[v])
            set_base(l, v);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (!owns_bytes[n->out[0]] && !l->made_in[n->out[0]])
            if (!set_view(l, n) && !set_rank_slice(l, n))
                set_base(l, n->out[0]);
    }
}

// Makes instances alike: all are views or none, as one iteration of a loop represents all. At an
// end of the loop a view may be impossible that is possible elsewhere: a reshape of a broadcast,
// say, where other iterations reshape a kernel's output. False if instances were alike already.
static bool unify_instances(const Lowering *l, bool *owns_bytes)
{
    bool is_new = false;

    for (NodeId i = 1; i < l->g->n_nodes; i++) {
        const Node *n = &l->g->nodes[i];
        ValueId first = n->block.cls ? value_instance(l, n->out[0], 0) : n->out[0];
        if (owns_bytes[first] || is_view_node(l, n) == is_view_node(l, producer(l->g, first)))
            continue;
        set_owns_bytes(l, first, owns_bytes);
        is_new = true;
    }
    return is_new;
}

bool lower_views(Lowering *l)
{
    bool *owns_bytes = find_owners(l);

    l->view = arena_array(l->p->arena, View, l->g->n_values);
    l->made_in = arena_array(l->p->arena, NodeId, l->g->n_values);
    make_all_in_results(l, owns_bytes);
    do {
        set_views(l, owns_bytes);
    } while (unify_instances(l, owns_bytes));
    return true;
}
