// Finds how nodes see values (bases, views, instances) and which values each reader makes again.
#include <string.h>

#include "lower/internal.h"

// ---- inlined values ----

static bool is_scalar_source(const Graph *g, ValueId v)
{
    const Value *x = value_of(g, v);
    return !x->producer && value_count(x) == 1 &&
           (x->kind == VALUE_CONSTANT || x->kind == VALUE_HYPER);
}

// Is v of another iteration of the node's class? At the end of the class another value replaces it,
// so a loop can only read it from memory.
static bool is_of_neighbour(const Graph *g, const Node *n, ValueId v)
{
    Block b = value_block(g, v);

    return b.cls && b.cls == n->block.cls && b.iter != n->block.iter;
}

// Inlines elementwise nodes over scalars and indices only (masks, dropout's random numbers).
void find_inlinable(Lowering *l)
{
    const Graph *g = l->g;

    l->can_inline = arena_array(l->p->arena, bool, g->n_nodes);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool can_inline_node = n->op->expr && value_of(g, n->out[0])->rank > 0;
        for (int k = 0; can_inline_node && k < n->n_in; k++) {
            ValueId b = l->view[n->in[k]].base;
            can_inline_node = is_scalar_source(g, b) || l->can_inline[value_of(g, b)->producer];
        }
        l->can_inline[i] = can_inline_node;
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (is_view_node(l, n))
            continue;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] != l->view[n->in[k]].base || !n->op->expr) {
                l->needs_memory[l->view[n->in[k]].base] = true;
                l->needs_memory[n->in[k]] = true;
            } else if (is_of_neighbour(g, n, n->in[k])) {
                l->needs_memory[n->in[k]] = true;
            }
    }
    for (int i = 0; i < l->n_initials; i++)  // a copy reads it
        l->needs_memory[l->view[l->initials[i].from].base] = true;
    for (ValueId v = 1; v < g->n_values; v++)  // no copy brings it there
        l->needs_memory[v] |= l->made_in[v] != 0;
    for (int i = 0; i < g->n_outputs; i++)
        l->needs_memory[g->outputs[i].value] = true;
    for (int i = 0; i < g->n_carries; i++)
        l->needs_memory[g->carries[i].out] = true;
    // Instances are treated alike: a value that one iteration needs in memory is in memory in all.
    for (ValueId v = 1; v < g->n_values; v++)
        if (l->needs_memory[v] && value_block(g, v).cls)
            l->needs_memory[value_instance(l, v, 0)] = true;
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_block(g, v).cls && l->needs_memory[value_instance(l, v, 0)])
            l->needs_memory[v] = true;
}

// Is v in memory for another reason than n, and not overwritten by a carry: does a kernel make it,
// or another iteration?
static bool is_in_memory_anyway(const Lowering *l, const Node *n, ValueId v)
{
    const Node *from = producer(l->g, v);

    return value_of(l->g, v)->producer && !l->carried_in[v] &&
           (from->op->kernel || !is_same_block(from->block, n->block));
}

// Does the node make an element by one flop from an element in memory and from broadcast numbers,
// as a norm does: c = x - m? Reading x again costs no more than reading c, and c need not be
// written. This pays in channels-last regions, where column sums separate groups that elsewhere are
// passes over one row.
static bool is_one_flop_of_memory(const Lowering *l, const Node *n)
{
    enum { MIN_BROADCAST = 16 };  // elements that share one broadcast number
    const Graph *g = l->g;
    int64_t count = value_count(out(g, n));
    ValueId x = 0;

    if (!n->op->expr || n->op->flops != 1 || !l->is_channels_last[n->out[0]] ||
        l->carried_in[n->out[0]])
        return false;
    for (int k = 0; k < n->n_in; k++) {
        ValueId b = l->view[n->in[k]].base;
        if (b == n->in[k] && is_in_memory_anyway(l, n, b) && (!x || x == b))
            x = b;
        else if (b == n->in[k] || !value_of(g, b)->producer || l->carried_in[b] ||
                 value_count(value_of(g, b)) > count / MIN_BROADCAST)
            return false;
    }
    return x != 0;
}

// Inlines the nodes of one flop that only their own iteration reads.
void find_inlinable_one_flop(Lowering *l)
{
    const Graph *g = l->g;
    bool *is_kept = arena_array(l->p->arena, bool, g->n_values);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(g, n->in[k])->producer;
            if (from &&
                (!is_same_block(g->nodes[from].block, n->block) || l->region[from] != l->region[i]))
                is_kept[n->in[k]] = true;
        }
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (is_kept[n->out[0]] || !is_one_flop_of_memory(l, n))
            is_kept[value_instance(l, n->out[0], 0)] = true;
    }
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (!is_kept[value_instance(l, g->nodes[i].out[0], 0)])
            l->can_inline[i] = true;
}

bool is_inlined(const Lowering *l, ValueId v)
{
    const Value *x = value_of(l->g, v);
    return x->producer && l->can_inline[x->producer] && !l->needs_memory[v];
}

// ---- operands ----

static Operand operand_through(const View *view, ValueId v)
{
    Operand o = {
        .value = v, .base = view->base, .offset = view->offset, .rank_slice = view->rank_slice};

    memcpy(o.stride, view->stride, sizeof o.stride);
    return o;
}

// At one of the two iterations the input may be the value from outside that replaces a missing
// neighbour.
Operand operand_of(const Lowering *l, int r, ValueId v, ValueId other)
{
    const Region *x = &l->regions[r];
    const View *at_representative = &l->view[v], *at_other = &l->view[other];
    Operand o = operand_through(at_representative, v);

    if (!r || v == other)
        return o;
    Block b = value_block(l->g, at_representative->base), c = value_block(l->g, at_other->base);
    bool is_shared = at_representative->base == at_other->base;
    if (!is_shared && b.cls != x->cls) {
        o = operand_through(at_other, v);
        o.is_instance = true;
        o.delta = c.iter - x->other;
        return o;
    }
    o.is_instance = !is_shared;
    o.delta = is_shared ? 0 : b.iter - x->representative;
    if (is_shared || (c.cls == b.cls && c.iter - x->other == o.delta)) {
        o.step[0] = (at_other->offset - at_representative->offset) / (x->other - x->representative);
        o.offset -= o.step[0] * x->representative;
    }
    return o;
}

Operand input_operand(const Lowering *l, int r, NodeId n, int k)
{
    NodeId other = r ? node_instance(l, n, l->regions[r].other) : n;

    return operand_of(l, r, l->g->nodes[n].in[k], l->g->nodes[other].in[k]);
}

Operand output_operand(const Lowering *l, int r, NodeId n, int k)
{
    NodeId other = r ? node_instance(l, n, l->regions[r].other) : n;

    return operand_of(l, r, l->g->nodes[n].out[k], l->g->nodes[other].out[k]);
}
