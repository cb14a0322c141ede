// Finds the dims that a fused group walks: as few as its operands allow.
#include <string.h>

#include "generator/group/walk.h"

static bool has_index(Gen *g, const Item *it)
{
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &g->s->g->nodes[it->nodes[i]];
        if (n->op->expr && strstr(n->op->expr(g->s->g, n), "$i"))
            return true;
        for (int k = 0; n->op->is_sum && k < n->attr[0].n; k++)
            if (sum_shard(g, it->nodes[i], (int)n->attr[0].v[k]) >= 0)
                return true;
    }
    return false;
}

bool is_column_output(const Gen *g, const Item *it, int k)
{
    for (int i = 0; k >= it->n_in && i < it->n_nodes; i++)
        if (g->s->g->nodes[it->nodes[i]].out[0] == it->operands[k].value)
            return it->group.is_column_sum[i];
    return false;
}

// Operand k's stride along the dim at depth i. A row scalar lacks the last dims, and column sums
// are not walked: both have 0 there.
static int64_t stride_at(const Gen *g, const Walk *w, const Item *it, int k, int i)
{
    return i < it->rank && !is_column_output(g, it, k) ? it->operands[k].stride[w->axis[i]] : 0;
}

static bool can_merge(const Gen *g, const Walk *w, int64_t dim, const Item *it, int i)
{
    for (int k = 0; k < it->n_in + it->n_out; k++)
        if (w->stride[k][w->rank - 1] != stride_at(g, w, it, k, i) * dim)
            return false;
    return true;
}

static void add_dim(const Gen *g, Walk *w, const Item *it, int i, int64_t size)
{
    w->dim[w->rank++] = size;
    for (int k = 0; k < it->n_in + it->n_out; k++)
        w->stride[k][w->rank - 1] = stride_at(g, w, it, k, i);
}

// Sums need a dim of their own to sum along, which isn't merged with the rows.
Walk make_walk(Gen *g, const Item *it)
{
    Walk w = {.has_index = has_index(g, it)};
    int n = it->n_in + it->n_out;
    bool has_rows = it->group.has_rows || it->group.has_columns;
    int row_rank = it->group.has_columns ? it->rank - 1 : it->group.row_rank;

    memcpy(w.axis, it->group.axis, sizeof w.axis);
    w.stride = arena_alloc(g->arena, (size_t)n + 1, sizeof *w.stride);
    for (int i = 0; i < it->rank; i++) {
        int64_t size = it->dim[w.axis[i]];
        if (has_rows && i == row_rank)
            w.rows = w.rank;
        if (size == 1 && !w.has_index)
            continue;
        bool starts_row = has_rows && i >= row_rank && w.rank == w.rows;
        if (w.rank && !w.has_index && !starts_row && can_merge(g, &w, size, it, i)) {
            w.dim[w.rank - 1] *= size;
            for (int k = 0; k < n; k++)
                w.stride[k][w.rank - 1] = stride_at(g, &w, it, k, i);
        } else {
            add_dim(g, &w, it, i, size);
        }
    }
    if (has_rows && row_rank == it->rank)
        w.rows = w.rank;
    if (has_rows && w.rows == w.rank)
        add_dim(g, &w, it, it->rank, 1);
    if (!has_rows)
        w.rows = w.rank > 1 ? w.rank - 1 : w.rank;
    return w;
}
