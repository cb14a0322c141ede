// Joins a group with a later one that reads its results, where nothing in between needs them: what
// they pass on stays in registers.
#include <string.h>

#include "lower/internal.h"

enum { LOOK_BACK = 64, MAX_MERGED = 96 };  // items; nodes of a group

// Rows enough for the threads, or few elements altogether.
bool are_good_rows(const Item *it, int rows)
{
    enum { MIN_ROWS = 64, FEW = 1 << 15 };
    int64_t n = 1, all = 1;

    for (int i = 0; i < it->rank; i++) {
        n *= i < rows ? it->dim[i] : 1;
        all *= it->dim[i];
    }
    return n >= MIN_ROWS || all <= FEW;
}

// Is `v`, of all dims, a value of the first `rows` of them repeated over the others?
bool is_row_number(const Lowering *l, ValueId v, int rows)
{
    const View *view = &l->view[v];
    const Value *x = value_of(l->g, v), *b = value_of(l->g, view->base);
    int64_t dense[MAX_RANK];

    if (b->rank != rows || x->rank < rows || view->offset ||
        memcmp(b->dim, x->dim, sizeof(int64_t) * (size_t)rows))
        return false;
    dense_strides(rows, b->dim, dense);
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] > 1 && view->stride[i] != (i < rows ? dense[i] : 0))
            return false;
    return true;
}

// Does the item make the value or, of a concat, something that is made right in it?
static bool makes(const Lowering *l, int item, ValueId base)
{
    const Node *n = producer(l->g, base);

    if (!value_of(l->g, base)->producer)
        return false;
    if (l->item_of[base] == 1 + item)
        return true;
    for (int k = 0; n->op->place && k < n->n_in; k++) {
        ValueId v = n->in[k];
        while (l->view[v].base == base && !l->placed_in[v])
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

// Other than element by element, or as the number of its row?
static bool node_reads_strictly(const Lowering *l, const Node *n, int item, int row_rank)
{
    for (int k = 0; k < n->n_in; k++) {
        ValueId v = n->in[k];
        bool is_direct = l->view[v].base == v;
        if (is_direct && is_inlined(l, v) &&
            node_reads_strictly(l, producer(l->g, v), item, row_rank))
            return true;
        if (!is_direct && reads(l, v, item) && !is_row_number(l, v, row_rank))
            return true;
    }
    return false;
}

static bool reads_strictly(const Lowering *l, const Item *it, int item, int row_rank)
{
    for (int i = 0; i < it->n_nodes; i++)
        if (node_reads_strictly(l, &l->g->nodes[it->nodes[i]], item, row_rank))
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

// Does an item write over something that the group reads? In one group with it that matters only
// where it is read other than element by element.
static bool overwrites(const Lowering *l, const Item *it, const Item *group, bool in_one)
{
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *w = &l->g->nodes[it->nodes[i]];
        for (int o = 0; o < w->n_out; o++) {
            ValueId in = l->carried_in[w->out[o]];
            for (int j = 0; in && j < group->n_nodes; j++) {
                const Node *n = &l->g->nodes[group->nodes[j]];
                for (int k = 0; k < n->n_in; k++)
                    if (l->view[n->in[k]].base == in && !(in_one && n->in[k] == in))
                        return true;
            }
        }
    }
    return false;
}

static bool is_led_by(const Item *it, const Item *rows, int n)
{
    return it->rank >= n && !memcmp(it->dim, rows->dim, sizeof(int64_t) * (size_t)n);
}

// How many leading dims make the rows of a group of both; -1: they don't go together. Either both
// walk the same dims, or one of them makes one number for each row of the other.
static int common_rows(const Item *a, const Item *b)
{
    const Item *large = a->rank > b->rank ? a : b, *small = a->rank > b->rank ? b : a;
    int rows = a->rank == b->rank ? (a->has_rows ? a->row_rank : b->row_rank) : small->rank;

    if (a->is_last != b->is_last || (a->is_last && a->rank != b->rank) ||
        (a->has_columns && b->has_columns && a->column_rank != b->column_rank) ||
        !is_led_by(large, small, small->rank) ||
        (a->rank == b->rank && a->has_rows && b->has_rows && a->row_rank != b->row_rank))
        return -1;
    if (a->rank == b->rank)
        return rows;
    return small->has_rows || (large->has_rows && large->row_rank != rows) ||
                   !are_good_rows(large, rows)
               ? -1
               : rows;
}

// Does a group read nothing of the other but numbers of rows?
static bool reads_numbers_only(const Lowering *l, const Item *it, int item)
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

static bool can_merge(const Lowering *l, int from, int to)
{
    const Item *a = &l->s->items[from], *b = &l->s->items[to];

    if (a->kind != ITEM_GROUP || a->region != b->region || !a->rank || !b->rank ||
        a->n_nodes + b->n_nodes > MAX_MERGED || !item_reads(l, b, from))
        return false;
    int rows = common_rows(a, b);
    bool has_rows = a->has_rows || b->has_rows || a->rank != b->rank;
    if (rows == 0 && has_rows && reads_numbers_only(l, b, from))  // totals, added up one by one
        return false;
    if (rows < 0 || reads_strictly(l, b, from, has_rows ? rows : -1) || overwrites(l, b, a, true))
        return false;
    for (int i = from + 1; i < to; i++)
        if (item_reads(l, &l->s->items[i], from) || overwrites(l, &l->s->items[i], a, false))
            return false;
    return true;
}

static void merge(Lowering *l, int from, int to)
{
    Item *a = &l->s->items[from], *b = &l->s->items[to];
    NodeId *nodes = arena_array(l->p->arena, NodeId, a->n_nodes + b->n_nodes);

    memcpy(nodes, a->nodes, sizeof *nodes * (size_t)a->n_nodes);
    memcpy(nodes + a->n_nodes, b->nodes, sizeof *nodes * (size_t)b->n_nodes);
    for (int i = 0; i < a->n_nodes; i++) {
        ValueId v = l->g->nodes[a->nodes[i]].out[0];
        l->item_of[v] = 1 + to;
        if (l->item_of[l->view[v].base] == 1 + from)
            l->item_of[l->view[v].base] = 1 + to;
    }
    if (a->has_columns)
        b->column_rank = a->column_rank;
    b->has_columns |= a->has_columns;
    b->row_rank = common_rows(a, b);
    b->has_rows |= a->has_rows || a->rank != b->rank;
    if (a->rank > b->rank) {
        b->rank = a->rank;
        memcpy(b->dim, a->dim, sizeof b->dim);
    }
    b->nodes = nodes;
    b->n_nodes += a->n_nodes;
    a->kind = ITEM_NONE;
    a->n_nodes = 0;
}

void merge_groups(Lowering *l, int begin, int end)
{
    for (int to = begin; l->o->fuse && to < end; to++) {
        int first = to - LOOK_BACK > begin ? to - LOOK_BACK : begin;
        if (l->s->items[to].kind != ITEM_GROUP)
            continue;
        for (int from = to - 1; from >= first && l->s->items[from].kind != ITEM_LOOP; from--)
            if (can_merge(l, from, to))
                merge(l, from, to);
    }
}
