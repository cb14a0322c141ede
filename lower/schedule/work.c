// Counts the work of items, for predictions and profiles.
#include <string.h>

#include "lower/internal.h"

// The bytes that operand k brings. Along dims with stride 0 it is read once.
static double operand_bytes(const Set *s, const Item *it, int k)
{
    const Operand *o = &it->operands[k];
    double bytes = dtype_size(value_of(s->g, o->value)->dtype);

    for (int i = 0; i < it->rank; i++)
        bytes *= o->stride[i] ? (double)it->dim[i] : 1;
    return bytes;
}

bool group_updates_in_place(const Program *p, const Set *s, const Item *it, int k)
{
    if (!s->storage)  // addresses aren't known yet
        return false;
    Address to = operand_address(p, s, &it->operands[it->n_in + k]);

    for (int i = 0; i < it->n_in; i++) {
        Address from = operand_address(p, s, &it->operands[i]);
        if (from.at == to.at && !memcmp(from.move, to.move, sizeof to.move))
            return true;
    }
    return false;
}

// Adds a store that doesn't overwrite an input.
static void add_store(const Program *p, Work *w, double bytes)
{
    w->read += p->target->reads_before_writing ? bytes : 0;
    w->written += bytes;
}

static Work group_work(const Program *p, const Set *s, const Item *it)
{
    Work w = {0};

    for (int i = 0; i < it->n_nodes; i++)
        w.flops += node_flops(s->g, &s->g->nodes[it->nodes[i]]);
    for (int k = 0; k < it->n_in; k++)
        w.read += operand_bytes(s, it, k);
    for (int k = 0; k < it->n_out; k++) {
        double bytes = (double)value_bytes(value_of(s->g, it->operands[it->n_in + k].value));
        if (group_updates_in_place(p, s, it, k))
            w.written += bytes;
        else
            add_store(p, &w, bytes);
    }
    return w;
}

// A kernel that overwrites its input writes as many bytes of it as its first input has.
static Work kernel_work(const Program *p, const Set *s, const Item *it)
{
    const Node *n = &s->g->nodes[it->nodes[0]];
    Work w = node_work(s->g, n);

    if (it->call.kernel.over && group_updates_in_place(p, s, it, 0)) {
        w.written += node_bytes(s->g, n, 0);
        w.read += 2 * w.written;
        return w;
    }
    for (int k = 0; k < n->n_in; k++)
        w.read += node_bytes(s->g, n, k);
    for (int k = 0; k < n->n_out; k++)
        add_store(p, &w, node_bytes(s->g, n, n->n_in + k));
    return w;
}

static Work copy_work(const Program *p, const Set *s, const Item *it)
{
    Work w = {.read = operand_bytes(s, it, 0)};

    add_store(p, &w, operand_bytes(s, it, 1));
    return w;
}

static Work fill_work(const Program *p, const Set *s, const Item *it)
{
    Work w = {0};

    add_store(p, &w, (double)value_bytes(value_of(s->g, it->operands[0].value)));
    return w;
}

Work item_work(const Program *p, const Set *s, const Item *it)
{
    switch (it->kind) {
    case ITEM_GROUP:
        return group_work(p, s, it);
    case ITEM_KERNEL:
        return it->call.slot ? (Work){0} : kernel_work(p, s, it);
    case ITEM_COPY:
        return copy_work(p, s, it);
    case ITEM_FILL:
        return fill_work(p, s, it);
    default:
        return (Work){0};
    }
}

double busy_seconds(const Work *w, const Cluster *c)
{
    return w->read + w->written > 0 ? work_seconds(c, w) : 0;
}

const ShardedNode *item_exchange(const Set *s, const Item *it)
{
    bool is_one = it->kind == ITEM_KERNEL && s->g->nodes[it->nodes[0]].op->exchange;

    return is_one ? &s->sharded->node[it->nodes[0]] : NULL;
}

double item_seconds(const Set *s, const Item *it, const Cluster *c)
{
    const ShardedNode *sent = item_exchange(s, it);

    return sent ? 1e-12 * (double)sent->picoseconds : busy_seconds(&it->work, c);
}
