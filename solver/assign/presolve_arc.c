// Reductions by arcs alone: drops alternatives without a partner, splits separable costs, and
// merges vertices that another's choice fixes. Runs until no arc is queued.
#include "solver/assign/presolve.h"

#include <string.h>

// Arc consistency (Mackworth 1977): drops alternatives without a finite partner. True if there were
// any.
static bool drop_unsupported(ConstraintNet *g, int arc)
{
    const Arc *e = &g->arc[arc];
    bool dropped = false;

    for (int s = 0; s < 2; s++) {
        Vertex *v = &g->node[e->end[s]], *o = &g->node[e->end[!s]];
        for (int k = 0; k < v->k; k++) {
            bool finds = false;
            for (int l = 0; l < o->k && !finds; l++)
                finds = !is_forbidden(*arc_at(g, e, s, k, l));
            v->is_dead[k] |= !finds;
            dropped |= !finds;
        }
    }
    if (dropped)
        for (int s = 0; s < 2; s++)
            vertex_compact(g, g->arc[arc].end[s]);
    return dropped;
}

// Removes an arc whose matrix is x[k] + y[l], adding x to the costs of one end and y to those of
// the other.
static bool dissolve(ConstraintNet *g, int arc)
{
    const Arc *e = &g->arc[arc];
    Vertex *a = &g->node[e->end[0]], *b = &g->node[e->end[1]];
    const int64_t *c = e->cost;

    for (int k = 0; k < a->k; k++)
        for (int l = 0; l < b->k; l++) {
            int64_t x = c[(size_t)k * (size_t)b->k + (size_t)l];
            if (is_forbidden(x) || x - c[l] != c[(size_t)k * (size_t)b->k] - c[0])
                return false;
        }
    for (int k = 0; k < a->k; k++)
        a->cost[k] += c[(size_t)k * (size_t)b->k];
    for (int l = 0; l < b->k; l++)
        b->cost[l] += c[l] - c[0];
    net_note(g, RULE_SEPARATE, e->end[0], e->end[1]);
    arc_remove(g, arc);
    return true;
}

// Does each alternative on side s have exactly one finite partner on the other side? Then f[] gets
// it.
static bool maps_uniquely(const ConstraintNet *g, const Arc *e, int s, int *f)
{
    const Vertex *v = &g->node[e->end[s]], *o = &g->node[e->end[!s]];

    for (int k = 0; k < v->k; k++) {
        f[k] = -1;
        for (int l = 0; l < o->k; l++)
            if (!is_forbidden(*arc_at(g, e, s, k, l))) {
                if (f[k] >= 0)
                    return false;
                f[k] = l;
            }
    }
    return true;
}

static bool merge(ConstraintNet *g, int arc)
{
    const Arc *e = &g->arc[arc];
    int *f[2];
    bool can[2];

    for (int s = 0; s < 2; s++) {
        f[s] = arena_array(g->arena, int, g->node[e->end[s]].k);
        can[s] = maps_uniquely(g, e, s, f[s]);
    }
    if (!can[0] && !can[1])
        return false;
    // If either end may go, the one with fewer arcs to move goes.
    int into = can[0] && can[1] ? g->node[e->end[0]].n_edges < g->node[e->end[1]].n_edges : can[1];
    vertex_merge(g, e->end[into], e->end[!into], arc, f[into]);
    return true;
}

void net_propagate(ConstraintNet *g)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->node[i].state == LIVE)
            vertex_compact(g, i);
    for (int i = 0; i < g->n_queue && !g->is_impossible; i++) {
        int arc = g->queue[i];
        g->arc[arc].is_queued = false;
        if (!g->arc[arc].is_gone && !drop_unsupported(g, arc) && !g->may_overflow &&
            !dissolve(g, arc))
            merge(g, arc);
    }
    g->n_queue = 0;
}
