// Items: elementwise nodes joined into groups, kernels with the copies that they need, loops.
#include <string.h>

#include "lower/internal.h"

enum { MAX_GROUP = 96 };  // nodes of one group, so that its function stays readable

typedef struct Emit {
    Lowering *l;
    int r;           // region being emitted, 0: top level
    int loop;        // item of its ITEM_LOOP, or the part's first item
    int *read_at;    // by ValueId (bases): 1 + last item that reads it
    int *strict_at;  // … other than element by element
} Emit;

// ---- what is made again rather than stored ----

static bool is_scalar_source(const Graph *g, ValueId v)
{
    const Value *x = value_of(g, v);
    return !x->producer && value_count(x) == 1 &&
           (x->kind == VALUE_CONSTANT || x->kind == VALUE_HYPER);
}

// Elementwise nodes over nothing but scalars and indices (masks, dropout's random numbers).
static void find_cheap(Lowering *l)
{
    const Graph *g = l->g;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool cheap = n->op->expr && value_of(g, n->out[0])->rank > 0;
        for (int k = 0; cheap && k < n->n_in; k++) {
            ValueId b = l->view[n->in[k]].base;
            cheap = is_scalar_source(g, b) || l->is_cheap[value_of(g, b)->producer];
        }
        l->is_cheap[i] = cheap;
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (is_view_node(l, n))
            continue;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] != l->view[n->in[k]].base || !n->op->expr) {
                l->needs_memory[l->view[n->in[k]].base] = true;
                l->needs_memory[n->in[k]] = true;
            }
    }
    for (int i = 0; i < g->n_outputs; i++)
        l->needs_memory[g->outputs[i].value] = true;
    for (int i = 0; i < g->n_carries; i++)
        l->needs_memory[g->carries[i].out] = true;
    // Twins are treated alike: what one iteration needs in memory (outputs), all keep there.
    for (ValueId v = 1; v < g->n_values; v++)
        if (l->needs_memory[v] && value_block(g, v).cls)
            l->needs_memory[twin_value(l, v, 0)] = true;
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_block(g, v).cls && l->needs_memory[twin_value(l, v, 0)])
            l->needs_memory[v] = true;
}

bool is_inlined(const Lowering *l, ValueId v)
{
    const Value *x = value_of(l->g, v);
    return x->producer && l->is_cheap[x->producer] && !l->needs_memory[v];
}

// ---- operands ----

static Operand seen_as(const View *view, ValueId v)
{
    Operand o = {.value = v, .base = view->base, .offset = view->offset};

    memcpy(o.stride, view->stride, sizeof o.stride);
    return o;
}

// At one of the two iterations the input may be what stands for a neighbour that isn't there.
Operand operand_of(const Lowering *l, int r, ValueId v, ValueId other)
{
    const Region *x = &l->regions[r];
    const View *at_rep = &l->view[v], *at_other = &l->view[other];
    Operand o = seen_as(at_rep, v);

    if (!r || v == other)
        return o;
    Block b = value_block(l->g, at_rep->base), c = value_block(l->g, at_other->base);
    bool is_shared = at_rep->base == at_other->base;
    if (!is_shared && b.cls != x->cls) {
        o = seen_as(at_other, v);
        o.is_twin = true;
        o.delta = c.iter - x->other;
        return o;
    }
    o.is_twin = !is_shared;
    o.delta = is_shared ? 0 : b.iter - x->rep;
    if (is_shared || (c.cls == b.cls && c.iter - x->other == o.delta)) {
        o.step = (at_other->offset - at_rep->offset) / (x->other - x->rep);
        o.offset -= o.step * x->rep;
    }
    return o;
}

Operand input_operand(const Lowering *l, int r, NodeId n, int k)
{
    NodeId other = r ? twin_node(l, n, l->regions[r].other) : n;

    return operand_of(l, r, l->g->nodes[n].in[k], l->g->nodes[other].in[k]);
}

Operand output_operand(const Lowering *l, int r, NodeId n, int k)
{
    NodeId other = r ? twin_node(l, n, l->regions[r].other) : n;

    return operand_of(l, r, l->g->nodes[n].out[k], l->g->nodes[other].out[k]);
}

// ---- items ----

static Item *add_item(Emit *e, ItemKind kind)
{
    Set *s = e->l->s;
    Item *it = arena_push(e->l->p->arena, s->items, s->n_items, s->cap_items);

    *it = (Item){.kind = kind, .region = e->r};
    if (e->r) {
        it->cls = e->l->regions[e->r].cls;
        it->phase = e->l->regions[e->r].phase;
    }
    return it;
}

static void note_reads(Emit *e, NodeId n, int item)
{
    const Node *x = &e->l->g->nodes[n];

    for (int k = 0; k < x->n_in; k++) {
        ValueId b = e->l->view[x->in[k]].base;
        e->read_at[b] = 1 + item;
        if (b != x->in[k] || !x->op->expr)
            e->strict_at[b] = 1 + item;
    }
}

static void note_outputs(Emit *e, NodeId n, int item)
{
    const Node *x = &e->l->g->nodes[n];

    for (int k = 0; k < x->n_out; k++) {
        int32_t *base = &e->l->item_of[e->l->view[x->out[k]].base];
        e->l->item_of[x->out[k]] = 1 + item;
        *base = *base > 1 + item ? *base : 1 + item;  // a concat's: when all of it is made
    }
}

static void set_dims(Item *it, const Value *v)
{
    it->rank = v->rank;
    memcpy(it->dim, v->dim, sizeof it->dim);
}

static void add_copy(Emit *e, const Operand *from, const Operand *to, int rank, const int64_t *dim)
{
    Item *it = add_item(e, ITEM_COPY);

    it->operands = arena_array(e->l->p->arena, Operand, 2);
    it->operands[0] = *from;
    it->operands[1] = *to;
    it->n_in = it->n_out = 1;
    it->rank = rank;
    memcpy(it->dim, dim, sizeof(int64_t) * (size_t)rank);
}

// ---- groups ----

// The last item whose result `v` needs, as seen element by element (`*at`) and otherwise
// (`*before`).
static void find_needs(const Emit *e, ValueId v, bool is_direct, int *at, int *before)
{
    const Lowering *l = e->l;
    ValueId b = l->view[v].base;

    if (is_inlined(l, b)) {
        const Node *n = producer(l->g, b);
        for (int k = 0; k < n->n_in; k++)
            find_needs(e, n->in[k], is_direct && n->in[k] == l->view[n->in[k]].base, at, before);
        return;
    }
    int item = l->item_of[b] - 1;
    if (is_direct && item > *at)
        *at = item;
    if (!is_direct && item > *before)
        *before = item;
}

static bool same_dims(const Item *it, const Value *v)
{
    return it->rank == v->rank && !memcmp(it->dim, v->dim, sizeof(int64_t) * (size_t)v->rank);
}

// Scalars all go together: a call costs more than they do.
static bool reads_same(const Lowering *l, const Item *it, const Node *x)
{
    if (it->rank == 0)
        return true;
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *y = &l->g->nodes[it->nodes[i]];
        for (int k = 0; k < x->n_in * y->n_in; k++) {
            ValueId a = l->view[x->in[k / y->n_in]].base, b = l->view[y->in[k % y->n_in]].base;
            if (a == b && value_count(value_of(l->g, a)) > 1)
                return true;
        }
    }
    return false;
}

static bool same_rows(const Item *it, const Value *v)
{
    return it->has_sum && it->row_rank == v->rank &&
           !memcmp(it->dim, v->dim, sizeof(int64_t) * (size_t)v->rank);
}

// Of the group's domain, or one number a row of what its sums made.
static bool can_join(const Emit *e, int item, const Node *x)
{
    const Item *it = item < 0 ? NULL : &e->l->s->items[item];
    const Value *y = out(e->l->g, x);

    return it && it->kind == ITEM_GROUP && it->region == e->r && it->n_nodes < MAX_GROUP &&
           (same_dims(it, y) || same_rows(it, y));
}

// The group that node n can join: the last one whose results it needs, if nothing else that it
// needs comes later; or a later one that reads the same. -1: none.
static int find_group(const Emit *e, NodeId n)
{
    enum { LOOK_BACK = 64 };
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    int at = -1, before = -1;

    for (int k = 0; k < x->n_in; k++)
        find_needs(e, x->in[k], x->in[k] == l->view[x->in[k]].base, &at, &before);
    ValueId in = l->carried_in[x->out[0]];
    if (in && e->read_at[in] - 1 > at)
        at = e->read_at[in] - 1;
    if (in && e->strict_at[in] - 1 > before)
        before = e->strict_at[in] - 1;
    if (!l->o->fuse)
        return -1;
    int first = at > before ? at : before + 1;
    first = first < e->loop ? e->loop : first;
    int last = l->s->n_items - 1;
    if (last - first > LOOK_BACK)
        first = last - LOOK_BACK;
    if (can_join(e, at, x) && at >= e->loop && at > before)
        return at;
    for (int i = last; i >= first; i--)
        if (can_join(e, i, x) && same_dims(&l->s->items[i], out(l->g, x)) &&
            reads_same(l, &l->s->items[i], x))
            return i;
    return -1;
}

static void lower_elementwise(Emit *e, NodeId n)
{
    Arena *a = e->l->p->arena;
    int at = find_group(e, n);

    if (at < 0) {
        Item *it = add_item(e, ITEM_GROUP);
        set_dims(it, out(e->l->g, &e->l->g->nodes[n]));
        it->nodes = arena_array(a, NodeId, MAX_GROUP);
        at = e->l->s->n_items - 1;
    }
    Item *it = &e->l->s->items[at];
    it->nodes[it->n_nodes++] = n;
    note_reads(e, n, at);
    note_outputs(e, n, at);
}

// How many leading dims of its input a sum leaves; -1 if they aren't the leading ones.
static int rows_of_sum(const Node *n, int rank)
{
    int kept = rank - n->attr[0].n;

    for (int i = 0; i < n->attr[0].n; i++)
        if (n->attr[0].v[i] != kept + i)
            return -1;
    return kept;
}

// A sum over the last dims of what a group makes becomes part of it, if its rows are enough for the
// threads (or few elements altogether).
static bool join_sum(Emit *e, NodeId n)
{
    enum { MIN_ROWS = 64, FEW = 1 << 15 };
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    const Value *v = in(l->g, x, 0);
    int kept = rows_of_sum(x, v->rank), at = l->item_of[x->in[0]] - 1;

    if (!l->o->fuse || kept < 0 || l->view[x->in[0]].base != x->in[0] || at < e->loop)
        return false;
    Item *it = &l->s->items[at];
    if (it->kind != ITEM_GROUP || it->region != e->r || it->n_nodes >= MAX_GROUP ||
        !same_dims(it, v) || (it->has_sum && it->row_rank != kept) ||
        (value_count(out(l->g, x)) < MIN_ROWS && value_count(v) > FEW))
        return false;
    it->has_sum = true;
    it->row_rank = kept;
    it->nodes[it->n_nodes++] = n;
    note_reads(e, n, at);
    note_outputs(e, n, at);
    return true;
}

// ---- copies and kernels ----

// Moves an operand by a view's offset, which may depend on the loop's iteration.
static void shift_view(const Emit *e, NodeId n, Operand *o, int64_t offset)
{
    const Lowering *l = e->l;
    int64_t stride[MAX_RANK], at_other = offset;

    if (e->r) {
        const Region *x = &l->regions[e->r];
        const Node *twin = &l->g->nodes[twin_node(l, n, x->other)];
        twin->op->view(l->g, twin, o->stride, stride, &at_other);
        int64_t step = (at_other - offset) / (x->other - x->rep);
        o->step += step;
        offset -= step * x->rep;
    }
    o->offset += offset;
}

// A view that must have bytes of its own, or that strides can't express.
static void lower_copy(Emit *e, NodeId n)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];
    Operand from = input_operand(e->l, e->r, n, 0), to = output_operand(e->l, e->r, n, 0);
    const Value *walked = in(g, x, 0);
    int64_t stride[MAX_RANK], offset = 0;

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
    it->fill = fill;
    set_dims(it, out(e->l->g, &e->l->g->nodes[n]));
}

// Inputs k, k + 1 … that are all iterations of one value, in order up or down, become one loop.
static int place_run(Emit *e, NodeId n, int k)
{
    const Lowering *l = e->l;
    const Graph *g = l->g;
    const Node *x = &g->nodes[n];
    Block b = value_block(g, x->in[k]);
    int length = b.cls ? g->classes[b.cls].length : 0;

    if (e->r || l->view[x->in[k]].base != x->in[k] || k + length > x->n_in ||
        (b.iter != 0 && b.iter != length - 1))
        return 0;
    int by = b.iter ? -1 : 1;
    for (int i = 1; i < length; i++)
        if (x->in[k + i] != twin_value(l, x->in[k], b.iter + by * i))
            return 0;
    return length;
}

static Operand placed(Emit *e, NodeId n, int k)
{
    const Node *x = &e->l->g->nodes[n];
    Operand to = output_operand(e->l, e->r, n, 0);
    int64_t stride[MAX_RANK], offset;

    x->op->place(e->l->g, x, k, to.stride, stride, &offset);
    memcpy(to.stride, stride, sizeof stride);
    to.offset += offset;
    return to;
}

static void place_loop(Emit *e, NodeId n, int k)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];
    Block b = value_block(g, x->in[k]);
    int by = b.iter ? -1 : 1;
    Operand to = placed(e, n, k), next = placed(e, n, k + 1);
    Operand from = operand_of(e->l, 0, x->in[k], x->in[k]);
    int begin = e->l->s->n_items;

    Item *it = add_item(e, ITEM_LOOP);
    it->cls = b.cls;
    it->match = begin + 2;
    from.is_twin = true;
    from.delta = 0;
    to.step = by * (next.offset - to.offset);
    to.offset -= to.step * b.iter;
    add_copy(e, &from, &to, in(g, x, k)->rank, in(g, x, k)->dim);
    e->l->s->items[begin + 1].cls = b.cls;
    it = add_item(e, ITEM_END);
    it->cls = b.cls;
    it->match = begin;
}

// Is input k already where the node puts it? (The same value may be put into two places.)
static bool is_placed(const Lowering *l, const Node *x, int k)
{
    const View *whole = &l->view[x->out[0]], *view = &l->view[x->in[k]];
    int64_t stride[MAX_RANK], offset;

    if (view->base != x->out[0])
        return false;
    x->op->place(l->g, x, k, whole->stride, stride, &offset);
    return view->offset == whole->offset + offset;
}

static void lower_place(Emit *e, NodeId n)
{
    const Graph *g = e->l->g;
    const Node *x = &g->nodes[n];

    if (x->op->fill)
        add_fill(e, n, x->op->fill(x));
    for (int k = 0; k < x->n_in;) {
        int run = place_run(e, n, k);
        if (is_placed(e->l, x, k)) {
            k++;
            continue;
        }
        if (run > 1) {
            place_loop(e, n, k);
            k += run;
            continue;
        }
        Operand from = input_operand(e->l, e->r, n, k), to = placed(e, n, k);
        add_copy(e, &from, &to, in(g, x, k)->rank, in(g, x, k)->dim);
        k++;
    }
    note_reads(e, n, e->l->s->n_items - 1);
    note_outputs(e, n, e->l->s->n_items - 1);
}

// A dense (or as the kernel wants it) copy of an operand in a value of its own.
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

static void lower_kernel(Emit *e, NodeId n)
{
    Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    Arena *a = l->p->arena;
    int count = x->n_in + x->n_out;
    Operand *ops = arena_array(a, Operand, count);
    int64_t(*stride)[MAX_RANK] = arena_alloc(a, (size_t)count, sizeof *stride);
    Kernel k = {.want = arena_alloc(a, (size_t)count, sizeof *stride)};

    for (int i = 0; i < count; i++) {
        if (i >= x->n_in)
            ops[i] = output_operand(e->l, e->r, n, i - x->n_in);
        else if (x->in[i])
            ops[i] = input_operand(e->l, e->r, n, i);
        memcpy(stride[i], ops[i].stride, sizeof stride[i]);
    }
    x->op->kernel(l->g, x, (const int64_t(*)[MAX_RANK])stride, &k);
    for (int i = 0; i < x->n_in; i++)
        if (k.copies >> i & 1) {
            ops[i] = copied(e, &ops[i], k.want[i]);
            memcpy(stride[i], ops[i].stride, sizeof stride[i]);
        }
    x = &l->g->nodes[n];
    if (k.copies) {
        text_free(&k.args);
        k = (Kernel){.want = k.want};
        x->op->kernel(l->g, x, (const int64_t(*)[MAX_RANK])stride, &k);
    }
    char *args = arena_copy(a, k.args.s ? k.args.s : "", k.args.n);
    text_free(&k.args);
    k.args = (Text){.s = args};
    Item *it = add_item(e, ITEM_KERNEL);
    it->nodes = arena_array(a, NodeId, 1);
    it->nodes[0] = n;
    it->n_nodes = 1;
    it->operands = ops;
    it->n_in = x->n_in;
    it->n_out = x->n_out;
    it->kernel = k;
    note_reads(e, n, l->s->n_items - 1);
    note_outputs(e, n, l->s->n_items - 1);
}

// A carried value is written over the one that it replaces, unless its own item reads that one
// other than element by element: then it is copied there.
static void lower_carry(Emit *e, NodeId n)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];

    for (int i = 0; i < x->n_out; i++) {
        ValueId in = l->carried_in[x->out[i]];
        if (!in || e->strict_at[in] != l->item_of[x->out[i]])
            continue;
        const Value *v = value_of(l->g, in);
        ValueId other = e->r ? twin_value(l, in, l->regions[e->r].other) : in;
        Operand from = output_operand(l, e->r, n, i), to = operand_of(l, e->r, in, other);
        add_copy(e, &from, &to, v->rank, v->dim);
        l->is_copied[x->out[i]] = true;
    }
}

static bool lower_node(Emit *e, NodeId n)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];

    if (is_view_node(l, x) || (l->is_cheap[n] && !l->needs_memory[x->out[0]]))
        return true;
    if (x->op->view)
        lower_copy(e, n);
    else if (x->op->expr)
        lower_elementwise(e, n);
    else if (x->op->place)
        lower_place(e, n);
    else if (x->op->is_sum && join_sum(e, n))
        return true;
    else if (x->op->kernel)
        lower_kernel(e, n);
    else
        return node_error(l->g, x, l->d, "operator %s has no kernel", x->op->name);
    lower_carry(e, n);
    return true;
}

// ---- loops ----

// Follows an input of the loop's node back through the views of its own iteration, and in step with
// it the same input at the first iteration: `*v` is made by the neighbour, `*w` is what stands for
// it before there is one.
static void find_initial(const Lowering *l, ValueId *v, ValueId *w)
{
    const Graph *g = l->g;

    for (;;) {
        const Node *a = producer(g, *v), *b = producer(g, *w);
        if (!value_of(g, *v)->producer || !value_of(g, *w)->producer || !is_view_node(l, a) ||
            !is_view_node(l, b) || a->block.pos != b->block.pos || a->block.cls != b->block.cls)
            return;
        *v = a->in[0];
        *w = b->in[0];
    }
}

// Before a loop: its neighbour inputs' first values go to the place of an iteration before the
// first.
static void add_initial(Emit *e, int r, ValueId v, ValueId w, bool *done)
{
    const Lowering *l = e->l;
    const Region *x = &l->regions[r];
    int first = x->is_reverse ? l->g->classes[x->cls].length - 1 : 0;
    ValueId to_value = twin_value(l, v, first);

    if (done[to_value])
        return;
    done[to_value] = true;
    Operand from = operand_of(l, 0, w, w), to = operand_of(l, 0, to_value, to_value);
    to.delta = x->is_reverse ? 1 : -1;
    add_copy(e, &from, &to, value_of(l->g, w)->rank, value_of(l->g, w)->dim);
}

static void add_initials(Emit *e, int r)
{
    const Lowering *l = e->l;
    const Region *x = &l->regions[r];
    bool *done = arena_array(l->p->arena, bool, l->cap_values);
    int first = x->is_reverse ? l->g->classes[x->cls].length - 1 : 0;

    for (int i = 0; i < x->n_nodes; i++) {
        const Node *n = &l->g->nodes[x->nodes[i]];
        const Node *at_first = &l->g->nodes[twin_node(l, x->nodes[i], first)];
        if (is_view_node(l, n))
            continue;
        for (int k = 0; k < n->n_in; k++) {
            Operand o = input_operand(l, r, x->nodes[i], k);
            NodeId from = value_of(l->g, o.base)->producer;
            ValueId v = n->in[k], w = at_first->in[k];
            if (!o.is_twin || !o.delta || !from || l->region[from] != r)
                continue;
            find_initial(l, &v, &w);
            add_initial(e, r, v, w, done);
        }
    }
}

static bool lower_region(Emit *e, int r)
{
    Lowering *l = e->l;
    const Region *x = &l->regions[r];
    int begin, outer = e->loop;

    add_initials(e, r);
    begin = l->s->n_items;
    e->r = r;
    e->loop = begin;
    Item *it = add_item(e, ITEM_LOOP);
    it->is_reverse = x->is_reverse;
    for (int i = 0; i < x->n_nodes; i++)
        if (!lower_node(e, x->nodes[i]))
            return false;
    merge_groups(l, begin + 1, l->s->n_items);
    it = add_item(e, ITEM_END);
    it->match = begin;
    l->s->items[begin].match = l->s->n_items - 1;
    // From outside, whatever iteration it is of: made by the loop.
    const ClassTable *t = &l->table[x->cls];
    for (int i = 0; i < t->n_nodes * l->g->classes[x->cls].length; i++)
        if (l->region[t->nodes[i]] == r)
            note_outputs(e, t->nodes[i], l->s->n_items - 1);
    for (int i = 0; i < x->n_nodes; i++)
        note_reads(e, x->nodes[i], l->s->n_items - 1);
    e->r = 0;
    e->loop = outer;
    return true;
}

bool lower_items(Lowering *l)
{
    Arena *a = l->p->arena;
    Emit e = {.l = l};
    Part part = PART_MICRO;

    l->is_cheap = arena_array(a, bool, l->g->n_nodes);
    e.read_at = arena_array(a, int, l->cap_values);
    e.strict_at = arena_array(a, int, l->cap_values);
    l->carried_in = arena_array(a, int, l->cap_values);
    for (int i = 0; i < l->g->n_carries; i++)
        l->carried_in[l->g->carries[i].out] = l->g->carries[i].in;
    find_cheap(l);
    for (int i = 0; i < l->n_order; i++) {
        int32_t u = l->order[i];
        Part next = u < 0 ? l->regions[-u].part : l->part[u];
        while (part < next) {
            l->s->part[++part] = l->s->n_items;
            e.loop = l->s->n_items;
        }
        if (u < 0 ? !lower_region(&e, -u) : !lower_node(&e, u))
            return false;
    }
    while (part < N_PARTS)
        l->s->part[++part] = l->s->n_items;
    for (int k = 0; k < N_PARTS; k++)
        merge_groups(l, l->s->part[k], l->s->part[k + 1]);
    finish_groups(l);
    return true;
}
