// What an item does, for predictions and profiles.
#include "lower/lower.h"

// The bytes that operand k brings: dims that it is the same along are read once.
static double operand_bytes(const Set *s, const Item *it, int k)
{
    const Operand *o = &it->operands[k];
    double bytes = dtype_size(value_of(s->g, o->value)->dtype);

    for (int i = 0; i < it->rank; i++)
        bytes *= o->stride[i] ? (double)it->dim[i] : 1;
    return bytes;
}

static Work group_work(const Set *s, const Item *it)
{
    Work w = {0};

    for (int i = 0; i < it->n_nodes; i++)
        w.flops += node_flops(s->g, &s->g->nodes[it->nodes[i]]);
    for (int k = 0; k < it->n_in + it->n_out; k++)
        w.bytes += operand_bytes(s, it, k);
    return w;
}

static Work kernel_work(const Set *s, const Item *it)
{
    const Node *n = &s->g->nodes[it->nodes[0]];
    Work w = node_work(s->g, n);

    for (int k = 0; k < n->n_in + n->n_out; k++)
        w.bytes += node_bytes(s->g, n, k);
    return w;
}

Work item_work(const Set *s, const Item *it)
{
    switch (it->kind) {
    case ITEM_GROUP:
        return group_work(s, it);
    case ITEM_KERNEL:
        return kernel_work(s, it);
    case ITEM_COPY:
        return (Work){.bytes = operand_bytes(s, it, 0) + operand_bytes(s, it, 1)};
    case ITEM_FILL:
        return (Work){.bytes = (double)value_bytes(value_of(s->g, it->operands[0].value))};
    default:
        return (Work){0};
    }
}
