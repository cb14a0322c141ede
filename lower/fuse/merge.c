// Merges a group with a later one that reads its results, unless an item between prevents it: the
// values between them stay in registers.
#include <string.h>

#include "lower/internal.h"

bool has_parallel_rows(const Target *t, const Item *it, int rows)
{
    int64_t n = 1, all = 1;

    for (int i = 0; i < it->rank; i++) {
        n *= i < rows ? it->dim[i] : 1;
        all *= it->dim[i];
    }
    return n >= t->parallel_rows || all <= t->few_elements;
}

// Is `v` a broadcast of a value with its first `rows` dims, repeated along the other dims?
bool is_row_broadcast(const Lowering *l, ValueId v, int rows)
{
    const View *view = &l->view[v];
    const Value *x = value_of(l->g, v), *b = value_of(l->g, view->base);
    int64_t dense[MAX_RANK];

    if (b->rank != rows || x->rank < rows || view->offset || view->rank_slice.slice ||
        memcmp(b->dim, x->dim, sizeof(int64_t) * (size_t)rows))
        return false;
    dense_strides(rows, b->dim, dense);
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] > 1 && view->stride[i] != (i < rows ? dense[i] : 0))
            return false;
    return true;
}

// Is the value assembled from others that lie in it, which other items may make? A group must not
// read its elements as if it had just made them.
bool is_assembled(const Lowering *l, ValueId v)
{
    return value_of(l->g, v)->producer && producer(l->g, v)->op->subview;
}

// Has the value the layout in which its own item made it, so that the group that makes it can use
// it directly?
bool is_direct_result(const Lowering *l, ValueId v)
{
    return l->view[v].base == v && !is_assembled(l, v);
}

// Does the item make the value or, of a concat, a part of it?
static bool makes(const Lowering *l, int item, ValueId base)
{
    const Node *n = producer(l->g, base);

    if (!value_of(l->g, base)->producer)
        return false;
    if (l->item_of[base] == 1 + item)
        return true;
    for (int k = 0; n->op->subview && k < n->n_in; k++) {
        ValueId v = n->in[k];
        while (l->view[v].base == base && !l->made_in[v])
            v = producer(l->g, v)->in[0];
        if (l->view[v].base == base && l->item_of[v] == 1 + item)
            return true;
    }
    return false;
}

static bool reads(const Lowering *l, ValueId v, int item)
{
    ValueId b = l->view[v].base;

    if (!v)
        return false;
    if (!is_inlined(l, b))
        return makes(l, item, b);
    const Node *n = producer(l->g, b);
    for (int k = 0; k < n->n_in; k++)
        if (reads(l, n->in[k], item))
            return true;
    return false;
}

// Does `v` read `base`, directly or through nodes that its reader makes again?
static bool value_uses(const Lowering *l, ValueId v, ValueId base)
{
    ValueId b = l->view[v].base;

    if (!is_inlined(l, b))
        return b == base;
    const Node *n = producer(l->g, b);
    for (int k = 0; k < n->n_in; k++)
        if (value_uses(l, n->in[k], base))
            return true;
    return false;
}

// Does the node read the item's results other than element by element or as row scalars?
static bool node_reads_non_elementwise(const Lowering *l, const Node *n, int item, int row_rank)
{
    for (int k = 0; k < n->n_in; k++) {
        ValueId v = n->in[k];
        bool is_direct = l->view[v].base == v;
        if (is_assembled(l, l->view[v].base) && reads(l, v, item))
            return true;
        if (is_direct && is_inlined(l, v) &&
            node_reads_non_elementwise(l, producer(l->g, v), item, row_rank))
            return true;
        if (!is_direct && reads(l, v, item) && !is_row_broadcast(l, v, row_rank))
            return true;
    }
    return false;
}

static bool reads_non_elementwise(const Lowering *l, const Item *it, int item, int row_rank)
{
    for (int i = 0; i < it->n_nodes; i++)
        if (node_reads_non_elementwise(l, &l->g->nodes[it->nodes[i]], item, row_rank))
            return true;
    return false;
}

static bool item_reads(const Lowering *l, const Item *it, int item)
{
    for (int k = 0; k < it->n_in; k++)
        if (it->operands[k].base && makes(l, item, it->operands[k].base))
            return true;
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &l->g->nodes[it->nodes[i]];
        for (int k = 0; k < n->n_in; k++)
            if (reads(l, n->in[k], item))
                return true;
    }
    return false;
}

// Does the item read `base`? except_elementwise: reads that go element by element don't count.
static bool uses(const Lowering *l, const Item *it, ValueId base, bool except_elementwise)
{
    for (int k = 0; k < it->n_in; k++)
        if (it->operands[k].base == base)
            return true;
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &l->g->nodes[it->nodes[i]];
        for (int k = 0; k < n->n_in; k++)
            if (value_uses(l, n->in[k], base) && !(except_elementwise && n->in[k] == base))
                return true;
    }
    return false;
}

// Does an item overwrite a value that another one reads? In one group (in_one) only reads matter
// that aren't element by element.
static bool overwrites(const Lowering *l, const Item *it, const Item *other, bool in_one)
{
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *w = &l->g->nodes[it->nodes[i]];
        for (int o = 0; o < w->n_out; o++) {
            ValueId in = l->carried_in[w->out[o]];
            if (in && uses(l, other, in, in_one))
                return true;
        }
    }
    return false;
}

static bool has_leading_dims(const Item *it, const Item *rows, int n)
{
    return it->rank >= n && !memcmp(it->dim, rows->dim, sizeof(int64_t) * (size_t)n);
}

// How many leading dims make the rows of a merged group; -1: the groups can't be merged. Both must
// walk the same dims, or one must make a row scalar for each row of the other.
static int common_rows(const Target *t, const Item *a, const Item *b)
{
    const Item *large = a->rank > b->rank ? a : b, *small = a->rank > b->rank ? b : a;
    int rows = a->rank == b->rank ? (a->group.has_rows ? a->group.row_rank : b->group.row_rank)
                                  : small->rank;

    if (a->group.is_channels_last != b->group.is_channels_last ||
        (a->group.is_channels_last && a->rank != b->rank) ||
        (a->group.has_columns && b->group.has_columns &&
         a->group.column_rank != b->group.column_rank) ||
        !has_leading_dims(large, small, small->rank) ||
        (a->rank == b->rank && a->group.has_rows && b->group.has_rows &&
         a->group.row_rank != b->group.row_rank))
        return -1;
    if (a->rank == b->rank)
        return rows;
    return small->group.has_rows || (large->group.has_rows && large->group.row_rank != rows) ||
                   !has_parallel_rows(t, large, rows)
               ? -1
               : rows;
}

// Does a group read only row scalars of the other?
static bool reads_row_scalars_only(const Lowering *l, const Item *it, int item)
{
    const Item *from = &l->s->items[item];

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &l->g->nodes[it->nodes[i]];
        for (int k = 0; k < n->n_in; k++)
            if (reads(l, n->in[k], item) &&
                value_of(l->g, l->view[n->in[k]].base)->rank == from->rank)
                return false;
    }
    return true;
}

// Can group `from` move down to `to`: does nothing between need it?
static bool can_sink(const Lowering *l, int from, int to)
{
    const Item *a = &l->s->items[from];

    for (int i = from + 1; i < to; i++)
        if (item_reads(l, &l->s->items[i], from) || overwrites(l, &l->s->items[i], a, false))
            return false;
    return true;
}

// Can the update `to` move up to `from`? Then `from` can't move down: the gradient that it makes
// may be shown in between.
static bool can_hoist(const Lowering *l, int from, int to)
{
    const Item *b = &l->s->items[to];

    for (int i = 0; i < b->n_nodes; i++) {
        const Node *n = &l->g->nodes[b->nodes[i]];
        if (n->phase != UPDATE || l->view[n->out[0]].base != n->out[0])
            return false;
    }
    for (int i = from + 1; i < to; i++)
        if (item_reads(l, b, i) || overwrites(l, b, &l->s->items[i], false))
            return false;
    return true;
}

static bool can_merge(const Lowering *l, int from, int to)
{
    const Item *a = &l->s->items[from], *b = &l->s->items[to];

    if (a->kind != ITEM_GROUP || a->region != b->region || !a->rank || !b->rank ||
        a->n_nodes + b->n_nodes > MAX_GROUP_NODES || !item_reads(l, b, from) ||
        must_not_join(l, a->nodes[0], b->nodes[0]))
        return false;
    int rows = common_rows(l->o->target, a, b);
    bool has_rows = a->group.has_rows || b->group.has_rows || a->rank != b->rank;
    if (rows == 0 && has_rows && reads_row_scalars_only(l, b, from))  // totals, added up one by one
        return false;
    return rows >= 0 && !reads_non_elementwise(l, b, from, has_rows ? rows : -1) &&
           !overwrites(l, b, a, true);
}

// Merges both groups into one at `at`, the index of one of them.
static void merge(Lowering *l, int from, int to, int at)
{
    Item *a = &l->s->items[from], *b = &l->s->items[to], all = *b;

    all.nodes = arena_array(l->p->arena, NodeId, a->n_nodes + b->n_nodes);
    all.n_nodes = a->n_nodes + b->n_nodes;
    memcpy(all.nodes, a->nodes, sizeof *all.nodes * (size_t)a->n_nodes);
    memcpy(all.nodes + a->n_nodes, b->nodes, sizeof *all.nodes * (size_t)b->n_nodes);
    for (int i = 0; i < all.n_nodes; i++) {
        ValueId v = l->g->nodes[all.nodes[i]].out[0];
        int32_t *base = &l->item_of[l->view[v].base];
        l->item_of[v] = 1 + at;
        if (*base == 1 + from || *base == 1 + to)
            *base = 1 + at;
    }
    if (a->group.has_columns)
        all.group.column_rank = a->group.column_rank;
    all.group.has_columns |= a->group.has_columns;
    all.group.row_rank = common_rows(l->o->target, a, b);
    all.group.has_rows |= a->group.has_rows || a->rank != b->rank;
    if (a->rank > b->rank) {
        all.rank = a->rank;
        memcpy(all.dim, a->dim, sizeof all.dim);
    }
    a->kind = b->kind = ITEM_NONE;
    a->n_nodes = b->n_nodes = 0;
    l->s->items[at] = all;
}

// Merges a group with the groups before it. One that can move down to it does; else it may move up
// itself.
static void merge_back(Lowering *l, int first, int to)
{
    for (int from = to - 1; from >= first && l->s->items[from].kind != ITEM_LOOP; from--) {
        if (!can_merge(l, from, to))
            continue;
        if (can_sink(l, from, to)) {
            merge(l, from, to, to);
        } else if (can_hoist(l, from, to)) {
            merge(l, from, to, from);
            return;
        }
    }
}

void merge_groups(Lowering *l, int begin, int end)
{
    for (int to = begin; l->o->fuse && to < end; to++)
        if (l->s->items[to].kind == ITEM_GROUP)
            merge_back(l, to - LOOK_BACK > begin ? to - LOOK_BACK : begin, to);
}
