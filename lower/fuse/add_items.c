// Adds items to a set, and notes what they read and make.
#include <string.h>

#include "lower/fuse/emit.h"

Item *add_item(Emit *e, ItemKind kind)
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

// Keeps the later item: a node may join an item that precedes others.
void note_reads(Emit *e, NodeId n, int item)
{
    const Node *x = &e->l->g->nodes[n];

    for (int k = 0; k < x->n_in; k++) {
        ValueId b = e->l->view[x->in[k]].base;
        if (e->read_at[b] <= item)
            e->read_at[b] = 1 + item;
        if ((b != x->in[k] || !x->op->expr) && e->non_elementwise_read_at[b] <= item)
            e->non_elementwise_read_at[b] = 1 + item;
    }
}

void note_outputs(Emit *e, NodeId n, int item)
{
    const Node *x = &e->l->g->nodes[n];

    for (int k = 0; k < x->n_out; k++) {
        int32_t *base = &e->l->item_of[e->l->view[x->out[k]].base];
        e->l->item_of[x->out[k]] = 1 + item;
        // A concat is made by the last item that makes a part of it.
        *base = *base > 1 + item ? *base : 1 + item;
    }
}

void set_dims(Item *it, const Value *v)
{
    it->rank = v->rank;
    memcpy(it->dim, v->dim, sizeof it->dim);
}

void add_copy(Emit *e, const Operand *from, const Operand *to, int rank, const int64_t *dim)
{
    Item *it = add_item(e, ITEM_COPY);

    it->operands = arena_array(e->l->p->arena, Operand, 2);
    it->operands[0] = *from;
    it->operands[1] = *to;
    it->n_in = it->n_out = 1;
    it->rank = rank;
    memcpy(it->dim, dim, sizeof(int64_t) * (size_t)rank);
}
