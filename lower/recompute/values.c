// Values and nodes of the forward part that represent all iterations.
#include "lower/recompute/recompute.h"

ValueId canonical_of(const Recompute *r, ValueId v)
{
    ValueId b = v ? r->l.view[v].base : 0;

    if (!b || !value_of(r->g, b)->producer || producer(r->g, b)->phase != FORWARD ||
        is_inlined(&r->l, b))
        return 0;
    return value_instance(&r->l, b, 0);
}

bool is_elementwise_work(const Node *n) { return n->op->expr || n->op->view; }

bool is_representative(const Recompute *r, const Node *n)
{
    Block b = n->block;

    return !b.cls || b.iter < 2 || b.iter == r->g->classes[b.cls].length - 1;
}
