// Puts elementwise nodes into fused groups, and sums over rows into the groups that make the rows.
#include <string.h>

#include "lower/fuse/emit.h"

// The last items whose results `v` needs: read element by element (`*at`) and otherwise
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
    is_direct &= !is_assembled(l, b);
    if (is_direct && item > *at)
        *at = item;
    if (!is_direct && item > *before)
        *before = item;
}

static bool same_rows(const Item *it, const Value *v)
{
    return it->group.has_rows && it->group.row_rank == v->rank &&
           !memcmp(it->dim, v->dim, sizeof(int64_t) * (size_t)v->rank);
}

// Should a node join a group only because both read the same? The phase must be the same, as what
// the backward part recomputes must not be made early and stored. Updates don't join sums of
// squares that the target reads again fast: without rows, parameters of all shapes share one
// function. Larger values join, which saves a read from memory.
static bool has_same_reads(const Lowering *l, const Item *it, const Node *x)
{
    bool is_reused = value_bytes(value_of(l->g, x->out[0])) <= l->o->target->reused_bytes;

    return l->g->nodes[it->nodes[0]].phase == x->phase &&
           !(x->phase == UPDATE && it->group.has_rows && is_reused) &&
           same_domain(l, it, x->out[0]) && shares_input(l, it, x);
}

// Can the node join the item: is it of the group's domain, or a row scalar of its rows?
static bool can_join(const Emit *e, int item, const Node *x)
{
    const Item *it = item < 0 ? NULL : &e->l->s->items[item];
    const Value *y = out(e->l->g, x);

    return it && it->kind == ITEM_GROUP && it->region == e->r && it->n_nodes < MAX_GROUP_NODES &&
           !must_not_join(e->l, it->nodes[0], y->producer) &&
           (same_domain(e->l, it, x->out[0]) || same_rows(it, y));
}

// The group that node n can join: the last one whose results it needs, unless another input comes
// later, or a later one that reads the same; -1: none.
static int find_group(const Emit *e, NodeId n)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    int at = -1, before = -1;

    for (int k = 0; k < x->n_in; k++)
        find_needs(e, x->in[k], x->in[k] == l->view[x->in[k]].base, &at, &before);
    ValueId in = l->carried_in[x->out[0]];
    if (in && e->read_at[in] - 1 > at)
        at = e->read_at[in] - 1;
    if (in && e->non_elementwise_read_at[in] - 1 > before)
        before = e->non_elementwise_read_at[in] - 1;
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
        if (can_join(e, i, x) && has_same_reads(l, &l->s->items[i], x))
            return i;
    return -1;
}

void emit_elementwise(Emit *e, NodeId n)
{
    int at = find_group(e, n);

    if (at < 0)
        at = add_group(e, e->l->g->nodes[n].out[0]);
    group_append(e, at, n);
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

// Can the sum join the group that makes its input?
static bool can_take_sum(const Emit *e, int at, const Node *x, int kept)
{
    const Lowering *l = e->l;
    const Item *it = &l->s->items[at];

    return is_direct_result(l, x->in[0]) && at >= e->loop && it->kind == ITEM_GROUP &&
           it->region == e->r && it->n_nodes < MAX_GROUP_NODES && same_domain(l, it, x->in[0]) &&
           (!it->group.has_rows || it->group.row_rank == kept);
}

// Adds a sum over the last dims to the group that makes its input or, if there are rows, to a new
// group.
bool emit_sum(Emit *e, NodeId n)
{
    const Lowering *l = e->l;
    const Node *x = &l->g->nodes[n];
    const Value *v = in(l->g, x, 0);
    int kept = rows_of_sum(x, v->rank), at = l->item_of[x->in[0]] - 1;
    Item like = {0};

    if (l->is_channels_last[x->in[0]])
        return emit_column_sum(e, n);
    set_dims(&like, v);
    if (!l->o->fuse || kept < 0 || !has_parallel_rows(l->o->target, &like, kept))
        return false;
    bool has_group = at >= 0 && can_take_sum(e, at, x, kept);
    if (!has_group && !kept)
        return false;
    if (!has_group)
        at = add_group(e, x->in[0]);
    Item *it = &l->s->items[at];
    it->group.has_rows = true;
    it->group.row_rank = kept;
    group_append(e, at, n);
    return true;
}
