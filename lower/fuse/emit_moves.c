// Emits items that move values: copies, concats and pads, and kernels with the copies that they
// need.
#include <string.h>

#include "lower/fuse/emit.h"

// Moves an operand by a view's offset, which may depend on the loop's iteration.
static void shift_view(const Emit *e, NodeId n, Operand *o, int64_t offset)
{
    const Lowering *l = e->l;
    int64_t stride[MAX_RANK], at_other = offset;

    if (e->r) {
        const Region *x = &l->regions[e->r];
        const Node *instance = &l->g->nodes[node_instance(l, n, x->other)];
        instance->op->view(l->g, instance, o->stride, stride, &at_other);
        int64_t step = (at_other - offset) / (x->other - x->representative);
        o->step[0] += step;
        offset -= step * x->representative;
    }
    o->offset += offset;
}

// A view that must have bytes of its own, or that strides can't express.
void emit_copy(Emit *e, NodeId n)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];
    Operand from = input_operand(e->l, e->r, n, 0), to = output_operand(e->l, e->r, n, 0);
    const Value *walked = in(g, x, 0);
    int64_t stride[MAX_RANK] = {0}, offset = 0;

    if (x->op->view(g, x, from.stride, stride, &offset)) {
        shift_view(e, n, &from, offset);
        memcpy(from.stride, stride, sizeof stride);
        walked = out(g, x);
    }
    dense_strides(walked->rank, walked->dim, to.stride);
    add_copy(e, &from, &to, walked->rank, walked->dim);
    note_reads(e, n, e->l->s->n_items - 1);
    note_outputs(e, n, e->l->s->n_items - 1);
}

static void add_fill(Emit *e, NodeId n, double fill)
{
    Item *it = add_item(e, ITEM_FILL);

    it->operands = arena_array(e->l->p->arena, Operand, 1);
    it->operands[0] = output_operand(e->l, e->r, n, 0);
    it->n_out = 1;
    it->fill.value = fill;
}

// Does `w` lie in its base as `v` does in the instance of its base of iteration `iter`?
static bool is_instance_view(const Lowering *l, ValueId v, ValueId w, int iter)
{
    const View *a = &l->view[v], *b = &l->view[w];
    int rank = value_of(l->g, v)->rank;

    return b->base == value_instance(l, a->base, iter) && a->offset == b->offset &&
           !a->rank_slice.slice && !b->rank_slice.slice && rank == value_of(l->g, w)->rank &&
           !memcmp(a->stride, b->stride, sizeof(int64_t) * (size_t)rank);
}

// How many inputs from k on are all iterations of one value, in rising or falling order: one loop
// copies them. 0: they aren't.
static int count_stacked(Emit *e, NodeId n, int k)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    Block b = value_block(l->g, l->view[x->in[k]].base);
    int length = b.cls ? l->g->classes[b.cls].length : 0;

    if (e->r || k + length > x->n_in || (b.iter != 0 && b.iter != length - 1))
        return 0;
    int by = b.iter ? -1 : 1;
    for (int i = 1; i < length; i++)
        if (!is_instance_view(l, x->in[k], x->in[k + i], b.iter + by * i))
            return 0;
    return length;
}

static Operand subview_operand(Emit *e, NodeId n, int k)
{
    const Node *x = &e->l->g->nodes[n];
    Operand to = output_operand(e->l, e->r, n, 0);
    int64_t stride[MAX_RANK], offset;

    x->op->subview(e->l->g, x, k, to.stride, stride, &offset);
    memcpy(to.stride, stride, sizeof stride);
    to.offset += offset;
    return to;
}

static void copy_loop(Emit *e, NodeId n, int k)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];
    Block b = value_block(g, e->l->view[x->in[k]].base);
    int by = b.iter ? -1 : 1;
    Operand to = subview_operand(e, n, k), next = subview_operand(e, n, k + 1);
    Operand from = operand_of(e->l, 0, x->in[k], x->in[k]);
    int begin = e->l->s->n_items;

    Item *it = add_item(e, ITEM_LOOP);
    it->cls = b.cls;
    it->loop.end = begin + 2;
    from.is_instance = true;
    from.delta = 0;
    to.step[0] = by * (next.offset - to.offset);
    to.offset -= to.step[0] * b.iter;
    add_copy(e, &from, &to, in(g, x, k)->rank, in(g, x, k)->dim);
    e->l->s->items[begin + 1].cls = b.cls;
    it = add_item(e, ITEM_END);
    it->cls = b.cls;
}

// Is input k already where the node puts it? (The same value may be put there twice.)
static bool is_made_there(const Lowering *l, const Node *x, int k)
{
    const View *whole = &l->view[x->out[0]], *view = &l->view[x->in[k]];
    int64_t stride[MAX_RANK], offset;

    if (view->base != x->out[0])
        return false;
    x->op->subview(l->g, x, k, whole->stride, stride, &offset);
    return view->offset == whole->offset + offset;
}

void emit_subviews(Emit *e, NodeId n)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];

    if (x->op->fill)
        add_fill(e, n, x->op->fill(x));
    for (int k = 0; k < x->n_in;) {
        int run = count_stacked(e, n, k);
        if (is_made_there(e->l, x, k)) {
            k++;
            continue;
        }
        if (run > 1) {
            copy_loop(e, n, k);
            k += run;
            continue;
        }
        Operand from = input_operand(e->l, e->r, n, k), to = subview_operand(e, n, k);
        add_copy(e, &from, &to, in(g, x, k)->rank, in(g, x, k)->dim);
        k++;
    }
    note_reads(e, n, e->l->s->n_items - 1);
    note_outputs(e, n, e->l->s->n_items - 1);
}

// Copies an operand to a value of its own with the strides that the kernel wants.
static Operand copied(Emit *e, const Operand *from, const int64_t *want)
{
    Lowering *l = e->l;
    const Value *x = value_of(l->g, from->value);
    ValueId v = graph_value(l->g, VALUE_ACTIVATION, NULL, x->dtype, x->rank, x->dim);
    Operand to = {.value = v, .base = v};

    x = value_of(l->g, from->value);
    memcpy(to.stride, want, sizeof(int64_t) * (size_t)x->rank);
    add_copy(e, from, &to, x->rank, x->dim);
    return to;
}

// ---- padding ----

// Does some output lack the factor, so that the node reduces over it?
static bool is_reduced(const Rule *r, const Graph *g, const Node *n, int factor)
{
    for (int k = 0; k < n->n_out; k++) {
        int rank = value_of(g, n->out[k])->rank, i = 0;
        while (i < rank && r->dim[n->n_in + k][i] != factor)
            i++;
        if (i == rank)
            return true;
    }
    return false;
}

// Does the node reduce over the factor, and do some ranks have less than a chunk of it?
static bool needs_pads(const Emit *e, NodeId n, const Rule *r, int factor)
{
    const Sharded *s = e->l->s->sharded;
    RtCut c;

    return node_split(s, n, factor, &c) && split_is_uneven(&s->plan->mesh, &c) &&
           is_reduced(r, e->l->g, &e->l->g->nodes[n], factor);
}

static void want_dense(const Graph *g, const Node *n, int i, Kernel *k)
{
    k->copies |= (uint64_t)1 << i;
    dense_strides(in(g, n, i)->rank, in(g, n, i)->dim, k->want[i]);
}

// Finds inputs to copy because they have no padding to fill: they repeat one element along the dim.
// One operand of a product may do so, if another has padding. Where none has any, the first is
// copied. A dim whose chunk is one element is always copied: its stride doesn't tell whether it is
// repeated, and ranks without an element of it may hold anything.
static void copy_repeated(const Emit *e, NodeId n, const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];
    Rule r;

    node_rule(e->l->p->arena, g, x, &r);
    for (int f = 0; f < r.n_factors; f++) {
        bool has_padding = !needs_pads(e, n, &r, f);
        int first = -1;
        for (int i = 0; i < x->n_in; i++)
            for (int d = 0; x->in[i] && d < in(g, x, i)->rank; d++)
                if (r.dim[i][d] == f) {
                    bool is_one = in(g, x, i)->dim[d] == 1 && !stride[i][d];
                    if (is_one && needs_pads(e, n, &r, f) && !(k->copies >> i & 1))
                        want_dense(g, x, i, k);
                    has_padding |= stride[i][d] != 0 || k->copies >> i & 1;
                    first = first < 0 ? i : first;
                }
        if (!has_padding && first >= 0)
            want_dense(g, x, first, k);
    }
}

static void add_pad(Emit *e, NodeId n, const Operand *o, int axis, int factor, FactorKind kind)
{
    Item *it = add_item(e, ITEM_PAD);
    Arena *a = e->l->p->arena;

    set_dims(it, value_of(e->l->g, o->value));
    it->nodes = arena_array(a, NodeId, 1);
    it->nodes[0] = n;
    it->operands = arena_array(a, Operand, 1);
    it->operands[0] = *o;
    it->n_nodes = it->n_in = 1;
    it->pad.factor = factor;
    it->pad.axis = axis;
    it->pad.op = kind == FACTOR_MAX ? RT_MAX : kind == FACTOR_MIN ? RT_MIN : RT_SUM;
}

// A kernel works on whole chunks. Where it reduces over a dim of which some ranks have less than a
// chunk, the padding must not count.
static void add_pads(Emit *e, NodeId n, const Operand *ops)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];
    Rule r;

    node_rule(e->l->p->arena, g, x, &r);
    for (int f = 0; f < r.n_factors; f++) {
        if (!needs_pads(e, n, &r, f))
            continue;
        for (int k = 0; k < x->n_in; k++)
            for (int i = 0; x->in[k] && i < in(g, x, k)->rank; i++)
                if (r.dim[k][i] == f && ops[k].stride[i])
                    add_pad(e, n, &ops[k], i, f, r.kind[f]);
    }
}

uint64_t split_factors(const Sharded *s, NodeId n)
{
    uint64_t bits = 0;
    RtCut c;

    for (int f = 0; s && f < s->node[n].n_factors; f++)
        bits |= (uint64_t)node_split(s, n, f, &c) << f;
    return bits;
}

bool emit_kernel(Emit *e, NodeId n)
{
    Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    Arena *a = l->p->arena;
    int count = x->n_in + x->n_out;
    Operand *ops = arena_array(a, Operand, count);
    int64_t(*stride)[MAX_RANK] = arena_alloc(a, (size_t)count, sizeof *stride);
    Kernel k = {.want = arena_alloc(a, (size_t)count, sizeof *stride),
                .whole = l->s->sharded ? l->s->sharded->node[n].size : NULL,
                .cut = split_factors(l->s->sharded, n)};

    for (int i = 0; i < count; i++) {
        if (i >= x->n_in)
            ops[i] = output_operand(e->l, e->r, n, i - x->n_in);
        else if (x->in[i])
            ops[i] = input_operand(e->l, e->r, n, i);
        memcpy(stride[i], ops[i].stride, sizeof stride[i]);
    }
    node_kernel(l->g, x, (const int64_t(*)[MAX_RANK])stride, &k);
    if (l->s->sharded)
        copy_repeated(e, n, (const int64_t(*)[MAX_RANK])stride, &k);
    // A copied operand may have dims that no longer merge with those of another operand.
    for (int round = 0; round < COPY_ROUNDS && k.copies & (((uint64_t)1 << x->n_in) - 1); round++) {
        for (int i = 0; i < x->n_in; i++)
            if (k.copies >> i & 1) {
                ops[i] = copied(e, &ops[i], k.want[i]);
                memcpy(stride[i], ops[i].stride, sizeof stride[i]);
            }
        x = &l->g->nodes[n];
        k = (Kernel){.want = k.want, .whole = k.whole, .cut = k.cut};
        node_kernel(l->g, x, (const int64_t(*)[MAX_RANK])stride, &k);
    }
    if (!k.def)
        return node_error(l->g, x, l->d, "no kernel takes operands of these dims");
    if (!target_takes(l->o->target, l->g, x, &k, l->d))
        return false;
    if (l->s->sharded)
        add_pads(e, n, ops);
    Item *it = add_item(e, ITEM_KERNEL);
    it->nodes = arena_array(a, NodeId, 1);
    it->nodes[0] = n;
    it->n_nodes = 1;
    it->operands = ops;
    it->n_in = x->n_in;
    it->n_out = x->n_out;
    kernel_settle(&k, it->region && x->block.cls == it->cls ? x->block.iter : -1);
    it->call.kernel = k;
    it->call.workspace = target_workspace(l->o->target, &k);
    note_reads(e, n, l->s->n_items - 1);
    note_outputs(e, n, l->s->n_items - 1);
    return true;
}
