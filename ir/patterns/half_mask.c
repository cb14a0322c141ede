// Masks of models in f16. Their lowest number is -65504. It absorbs a score that is added to it in
// f16, but not in f32, in which the graph computes. So it becomes f32's lowest number. That of bf16
// absorbs scores of f32, too.
#include <float.h>

#include "ir/patterns/match.h"

// Marks the values that a softmax takes the maximum of, or attention adds to its scores.
static void mark_ends(const Match *m, const Node *n, bool *is_added)
{
    if (n->op == &op_reduce_max)
        is_added[n->in[0]] = true;
    for (int k = 0; k < n->n_in && n->op->is_attention; k++)
        is_added[n->in[k]] |= n->op->no_grad_in >> k & 1;
}

// Does the node's result have an input's numbers, moved, chosen or with others added?
static bool keeps_numbers(const Node *n)
{
    return n->op == &op_add || n->op == &op_select || n->op == &op_cast ||
           n->op == &op_stop_gradient || n->op->view || n->op->subview;
}

// By ValueId: is the value added to what a softmax reads, or is it part of that?
static bool *find_added(const Match *m)
{
    bool *is_added = arena_array(m->arena, bool, m->g->n_values);

    for (NodeId i = m->g->n_nodes - 1; i > 0; i--) {
        const Node *n = &m->g->nodes[i];
        mark_ends(m, n, is_added);
        for (int k = 0; k < n->n_in && is_added[n->out[0]] && keeps_numbers(n); k++)
            is_added[n->in[k]] = true;
    }
    return is_added;
}

// Maps a value to one with the lowest number of f32 instead of that of f16. An infinity stays.
static void lower(Rewrite *r, ValueId v)
{
    Graph *g = r->to;
    ValueId x = r->map[v], lowest = make_eq(g, x, scalar_like(g, x, -65504));

    r->map[v] = make_select(g, lowest, scalar_like(g, x, -FLT_MAX), x);
}

bool half_masks_read(Graph *g, const bool *is_f16, Diag *d)
{
    Arena *a = arena_new();
    Match m = {.g = g, .arena = a};
    const bool *is_added = find_added(&m);
    Rewrite r = rewrite_begin(g);
    bool ok = true;

    for (ValueId v = 1; v < g->n_values; v++)
        if (is_f16[v] && is_added[v] && !value_of(g, v)->producer)
            lower(&r, v);
    for (NodeId i = 1; i < g->n_nodes && ok; i++) {
        ValueId v = g->nodes[i].out[0];
        rewrite_at(&r, i);
        ok = rewrite_copy(&r, i, d);
        if (ok && is_f16[v] && is_added[v])
            lower(&r, v);
    }
    arena_free(a);
    return rewrite_end(&r, d) && ok;
}
