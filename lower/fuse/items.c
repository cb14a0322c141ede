// Emits a set's items: the nodes in the order of execution, and loops with their initial values.
#include "lower/fuse/emit.h"

// ---- nodes ----

// A carried value overwrites the old value, unless its own item reads the old value in another
// order than element by element. Then it is made elsewhere and copied.
static void lower_carry(Emit *e, NodeId n)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];

    for (int i = 0; i < x->n_out; i++) {
        ValueId in = l->carried_in[x->out[i]];
        if (!in || e->non_elementwise_read_at[in] != l->item_of[x->out[i]])
            continue;
        const Value *v = value_of(l->g, in);
        ValueId other = e->r ? value_instance(l, in, l->regions[e->r].other) : in;
        Operand from = output_operand(l, e->r, n, i), to = operand_of(l, e->r, in, other);
        add_copy(e, &from, &to, v->rank, v->dim);
        l->is_copied[x->out[i]] = true;
    }
}

// Lets the trainer save a parameter's gradient once it is made, before the update overwrites it.
static void show_gradient(Emit *e, NodeId n, int k)
{
    const Lowering *l = e->l;
    ValueId base = l->view[l->g->nodes[n].out[k]].base;
    Item *it = add_item(e, ITEM_GRADIENT);

    it->operands = arena_array(l->p->arena, Operand, 1);
    it->operands[0] = output_operand(l, e->r, n, k);
    it->n_in = 1;
    e->read_at[base] = l->s->n_items;
    e->non_elementwise_read_at[base] = l->s->n_items;
}

static void show_gradients(Emit *e, NodeId n)
{
    const Node *x = &e->l->g->nodes[n];

    for (int k = 0; k < x->n_out; k++)
        if (are_all_gradients(e->l, x->out[k]))
            show_gradient(e, n, k);
}

static bool emit_node(Emit *e, NodeId n)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];

    if (is_view_node(l, x) || (l->can_inline[n] && !l->needs_memory[x->out[0]]))
        return true;
    if (x->op->view)
        emit_copy(e, n);
    else if (x->op->expr)
        emit_elementwise(e, n);
    else if (x->op->subview)
        emit_subviews(e, n);
    else if (x->op->is_sum && emit_sum(e, n))
        return true;
    else if (!x->op->kernel)
        return node_error(l->g, x, l->d, "operator %s has no kernel", x->op->name);
    else if (x->op->exchange && !l->s->sharded)
        return node_error(l->g, x, l->d, "it is a collective, but the program has one rank");
    else if (!emit_kernel(e, n))
        return false;
    lower_carry(e, n);
    return true;
}

static bool lower_node(Emit *e, NodeId n)
{
    if (!emit_node(e, n))
        return false;
    show_gradients(e, n);
    return true;
}

// ---- loops ----

// Before the loop, copies initial values to the slots of the iterations that don't exist.
static void add_initials(Emit *e, int r)
{
    const Lowering *l = e->l;

    for (int i = 0; i < l->n_initials; i++) {
        const InitialValue *x = &l->initials[i];
        if (x->region != r)
            continue;
        Operand from = operand_of(l, 0, x->from, x->from), to = operand_of(l, 0, x->to, x->to);
        to.delta = x->delta;
        add_copy(e, &from, &to, value_of(l->g, x->from)->rank, value_of(l->g, x->from)->dim);
    }
}

// After the loop, shows the gradients that it makes in some iterations only.
static void show_single_gradients(Emit *e, int r)
{
    const Lowering *l = e->l;
    const ClassTable *t = &l->table[l->regions[r].cls];

    for (int i = 0; i < t->n_nodes * l->g->classes[l->regions[r].cls].length; i++) {
        const Node *n = &l->g->nodes[t->nodes[i]];
        for (int k = 0; l->region[t->nodes[i]] == r && k < n->n_out; k++)
            if (l->n_gradients[n->out[k]] && !are_all_gradients(l, n->out[k]))
                show_gradient(e, t->nodes[i], k);
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
    it->loop.is_reverse = x->is_reverse;
    it->loop.again = x->again;
    for (int i = 0; i < x->n_nodes; i++)
        if (!lower_node(e, x->nodes[i]))
            return false;
    merge_groups(l, begin + 1, l->s->n_items);
    add_item(e, ITEM_END);
    l->s->items[begin].loop.end = l->s->n_items - 1;
    // Seen from outside, the loop makes the values of all iterations. A view makes nothing: its
    // base may be older than the loop.
    const ClassTable *t = &l->table[x->cls];
    for (int i = 0; i < t->n_nodes * l->g->classes[x->cls].length; i++)
        if (l->region[t->nodes[i]] == r && !is_view_node(l, &l->g->nodes[t->nodes[i]]))
            note_outputs(e, t->nodes[i], l->s->n_items - 1);
    for (int i = 0; i < x->n_nodes; i++)
        note_reads(e, x->nodes[i], l->s->n_items - 1);
    e->r = 0;
    e->loop = outer;
    show_single_gradients(e, r);
    return true;
}

// Begins the function of that timing, unless it is the last one.
static void enter_function(Emit *e, Timing timing)
{
    Set *s = e->l->s;

    if (s->n_functions && s->functions[s->n_functions - 1].timing == timing)
        return;
    *arena_push(e->l->p->arena, s->functions, s->n_functions, s->cap_functions) = (Function){
        .name = timing_name(timing), .timing = timing, .begin = s->n_items, .end = s->n_items};
    e->loop = s->n_items;
}

static Timing timing_at(const Lowering *l, int i)
{
    int32_t u = l->order[i];

    return u < 0 ? l->regions[-u].timing : l->timing[u];
}

bool lower_items(Lowering *l)
{
    Arena *a = l->p->arena;
    Emit e = {.l = l};
    Set *s = l->s;

    e.read_at = arena_array(a, int, l->cap_values);
    e.non_elementwise_read_at = arena_array(a, int, l->cap_values);
    l->carried_in = arena_array(a, int, l->cap_values);
    for (int i = 0; i < l->g->n_carries; i++)
        l->carried_in[l->g->carries[i].out] = l->g->carries[i].in;
    l->n_gradients = count_gradients(a, l->g);
    find_once(l);
    find_inlinable(l);
    find_inlinable_one_flop(l);
    if (!l->n_order || timing_at(l, 0) != TIMING_PREPARE)
        enter_function(&e, s == &l->p->set[SET_TRAIN] ? TIMING_MICRO : TIMING_FORWARD);
    for (int i = 0; i < l->n_order; i++) {
        int32_t u = l->order[i];
        enter_function(&e, timing_at(l, i));
        if (u < 0 ? !lower_region(&e, -u) : !lower_node(&e, u))
            return false;
        s->functions[s->n_functions - 1].end = s->n_items;
    }
    for (int k = 0; k < s->n_functions; k++)
        merge_groups(l, s->functions[k].begin, s->functions[k].end);
    finish_groups(l);
    return true;
}
