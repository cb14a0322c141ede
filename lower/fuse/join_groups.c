// The groups that nodes may join: which fit, and how a node is added.
#include <string.h>

#include "lower/fuse/emit.h"

// Does the group walk v's dims, in the same order?
bool same_domain(const Lowering *l, const Item *it, ValueId v)
{
    const Value *x = value_of(l->g, v);

    return it->rank == x->rank && !memcmp(it->dim, x->dim, sizeof(int64_t) * (size_t)x->rank) &&
           it->group.is_channels_last == l->is_channels_last[v];
}

// Scalars all go together: a call costs more than they do.
bool shares_input(const Lowering *l, const Item *it, const Node *x)
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

int add_group(Emit *e, ValueId v)
{
    Item *it = add_item(e, ITEM_GROUP);

    set_dims(it, value_of(e->l->g, v));
    it->group.is_channels_last = e->l->is_channels_last[v];
    it->nodes = arena_array(e->l->p->arena, NodeId, MAX_GROUP_NODES);
    return e->l->s->n_items - 1;
}

void group_append(Emit *e, int at, NodeId n)
{
    Item *it = &e->l->s->items[at];

    it->nodes[it->n_nodes++] = n;
    note_reads(e, n, at);
    note_outputs(e, n, at);
}
