// The loops of a fused group's function: as few dims as its operands allow.
#include <string.h>

#include "generator/walk.h"

static bool has_index(const Gen *g, const Item *it)
{
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &g->s->g->nodes[it->nodes[i]];
        if (n->op->expr && strstr(n->op->expr(g->s->g, n), "$i"))
            return true;
    }
    return false;
}

static bool can_merge(const Walk *w, int n, int at, int64_t dim, const Item *it, int i)
{
    for (int k = 0; k < n; k++)
        if (w->stride[k][at] != it->operands[k].stride[i] * dim)
            return false;
    return true;
}

static void add_dim(Walk *w, const Item *it, int i, int64_t size)
{
    w->dim[w->rank++] = size;
    for (int k = 0; k < it->n_in + it->n_out; k++)
        w->stride[k][w->rank - 1] = i < it->rank ? it->operands[k].stride[i] : 0;
}

// Sums need a dim to sum over, and keep it apart from the rows.
Walk make_walk(const Gen *g, const Item *it)
{
    Walk w = {.has_index = has_index(g, it)};
    int n = it->n_in + it->n_out;

    w.stride = arena_alloc(g->arena, (size_t)n + 1, sizeof *w.stride);
    for (int i = 0; i < it->rank; i++) {
        if (it->has_rows && i == it->row_rank)
            w.rows = w.rank;
        if (it->dim[i] == 1 && !w.has_index)
            continue;
        bool is_apart = it->has_rows && i >= it->row_rank && w.rank == w.rows;
        if (w.rank && !w.has_index && !is_apart &&
            can_merge(&w, n, w.rank - 1, it->dim[i], it, i)) {
            w.dim[w.rank - 1] *= it->dim[i];
            for (int k = 0; k < n; k++)
                w.stride[k][w.rank - 1] = it->operands[k].stride[i];
        } else {
            add_dim(&w, it, i, it->dim[i]);
        }
    }
    if (it->has_rows && it->row_rank == it->rank)
        w.rows = w.rank;
    if (it->has_rows && w.rows == w.rank)
        add_dim(&w, it, it->rank, 1);
    if (!it->has_rows)
        w.rows = w.rank > 1 ? w.rank - 1 : w.rank;
    return w;
}
