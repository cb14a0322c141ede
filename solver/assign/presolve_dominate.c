// Reductions by costs and bytes together: drops alternatives that a better one replaces, and
// eliminates vertices of few neighbours whose bytes don't matter.
//
// A replacement makes a choice cheaper, or as cheap and earlier in the order of alternatives. So
// the cheapest choice that comes first in this order never contains a replaced alternative. All
// alternatives that one pass finds may therefore be removed together, in whatever order it found
// them (dead-end elimination: Goldstein 1994; for pairs, Lecoutre et al. 2012 call it soft
// neighbourhood substitutability).
#include "solver/assign/presolve.h"

#include <stdlib.h>
#include <string.h>

// An arc seen from one of its ends: alternative k of this end with alternative l of the n at the
// other costs cost[k * n + l].
typedef struct ArcView {
    int n;
    const int64_t *cost;
} ArcView;

typedef struct DominanceCheck {
    const ConstraintNet *g;
    Vertex *v;
    int n;
    ArcView *view;
    // [SCREENS][alternative]: the cost of each one, given one choice of all neighbours.
    int64_t *screen;
    int64_t
        *passes;  // by alternative q: no screen shows that it costs more than the one to replace
    int n_screens, last;    // last: the one that was written last
    int *neighbour_choice;  // by arc: the neighbour's choice
} DominanceCheck;

// Screens are choices of the neighbours that are tried before a full comparison. FIRST_SCREENS are
// made at the start, the others as they are found to rule a replacement out.
enum { SCREENS = 32, FIRST_SCREENS = 8 };

// The costs of an arc as seen from the vertex on that side.
static ArcView view_of(Arena *a, const ConstraintNet *g, const Arc *e, int side)
{
    int k = g->node[e->end[side]].k, n = g->node[e->end[!side]].k;

    if (!side)
        return (ArcView){n, e->cost};
    int64_t *transposed = arena_array(a, int64_t, (size_t)k * (size_t)n);
    for (int l = 0; l < n; l++)
        for (int i = 0; i < k; i++)
            transposed[(size_t)i * (size_t)n + (size_t)l] =
                e->cost[(size_t)l * (size_t)k + (size_t)i];
    return (ArcView){n, transposed};
}

// Writes screen j for the choice in neighbour_choice.
static void screen_write(DominanceCheck *o, int j)
{
    int64_t *sum = o->screen + (size_t)j * (size_t)o->v->k;

    memcpy(sum, o->v->cost, (size_t)o->v->k * sizeof *sum);
    for (int i = 0; i < o->n; i++) {
        const int64_t *cost = o->view[i].cost + o->neighbour_choice[i];
        for (int k = 0; k < o->v->k; k++, cost += o->view[i].n)
            sum[k] = cost_add(sum[k], *cost);
    }
}

static DominanceCheck dominance_check_new(Arena *a, ConstraintNet *g, int node)
{
    Vertex *v = &g->node[node];
    DominanceCheck o = {.g = g, .v = v, .last = FIRST_SCREENS - 1};
    int to = 0;

    for (int i = 0; i < v->n_edges; i++)
        if (!g->arc[v->edge[i]].is_gone)
            v->edge[to++] = v->edge[i];
    v->n_edges = to;
    o.n = to;
    o.view = arena_array(a, ArcView, to);
    o.screen = arena_array(a, int64_t, (size_t)v->k * SCREENS);
    o.passes = arena_array(a, int64_t, v->k);
    o.neighbour_choice = arena_array(a, int, to);
    for (int i = 0; i < to; i++) {
        const Arc *e = &g->arc[v->edge[i]];
        o.view[i] = view_of(a, g, e, e->end[1] == node);
    }
    for (; o.n_screens < FIRST_SCREENS; o.n_screens++) {
        for (int i = 0; i < to; i++)
            o.neighbour_choice[i] = o.n_screens * o.view[i].n / FIRST_SCREENS;
        screen_write(&o, o.n_screens);
    }
    return o;
}

static bool holds_no_more(const Vertex *v, int q, int p)
{
    for (int r = 0; r < v->n_joint; r++)
        if (v->joint[r].bytes[q] > v->joint[r].bytes[p])
            return false;
    return true;
}

// The most that q instead of p can add on one arc, and the neighbour's alternative *at where it
// does. COST_FORBIDDEN if q lacks a partner of p.
static int64_t most_added(const ArcView *w, int q, int p, int *at)
{
    const int64_t *to = w->cost + (size_t)q * (size_t)w->n;
    const int64_t *from = w->cost + (size_t)p * (size_t)w->n;
    int64_t most = -COST_FORBIDDEN;

    for (int l = 0; l < w->n; l++) {
        if (is_forbidden(from[l]))
            continue;
        if (to[l] - from[l] > most) {
            *at = l;
            most = to[l] - from[l];
        }
        if (is_forbidden(to[l]))
            return COST_FORBIDDEN;
    }
    return most;
}

// Sets passes[q] for the alternatives q that cost at most what p does on every screen.
static void pass_all(DominanceCheck *o, int p)
{
    int k = o->v->k;

    for (int q = 0; q < k; q++)
        o->passes[q] = -1;
    for (int j = 0; j < o->n_screens; j++)
        most_mark(o->screen + (size_t)j * (size_t)k, k, o->screen[j * k + p], o->passes);
}

// Adds neighbour_choice as a screen, as it shows that an alternative doesn't replace p. Returns
// false.
static bool screen_add(DominanceCheck *o, int p)
{
    int k = o->v->k;

    o->last = o->last + 1 < SCREENS ? o->last + 1 : FIRST_SCREENS;
    o->n_screens += o->n_screens < SCREENS;
    screen_write(o, o->last);
    most_mark(o->screen + (size_t)o->last * (size_t)k, k, o->screen[o->last * k + p], o->passes);
    return false;
}

// Does q replace p for all choices of the neighbours?
static bool replaces(DominanceCheck *o, int q, int p)
{
    int64_t sum = o->v->cost[q] - o->v->cost[p];

    if (!holds_no_more(o->v, q, p))
        return false;
    for (int i = 0; i < o->n; i++) {
        int64_t most = most_added(&o->view[i], q, p, &o->neighbour_choice[i]);
        if (is_forbidden(most))
            return screen_add(o, p);
        if (most == -COST_FORBIDDEN)
            return true;  // p has no partner
        sum += most;
    }
    return sum < 0 || (sum == 0 && q < p) || (sum > 0 && screen_add(o, p));
}

static bool dominate(ConstraintNet *g, int node)
{
    Arena *a = arena_new();
    DominanceCheck o = dominance_check_new(a, g, node);
    Vertex *v = o.v;
    bool changed = false;

    for (int p = 0; p < v->k; p++) {
        pass_all(&o, p);
        for (int q = 0; q < v->k && !v->is_dead[p]; q++)
            if (o.passes[q] && q != p && !v->is_dead[q] && replaces(&o, q, p))
                changed = v->is_dead[p] = true;
    }
    if (changed)
        vertex_compact(g, node);
    arena_free(a);
    return changed;
}

// The remaining arcs of a vertex, up to 3 of them. Returns how many.
static int arcs_of(const ConstraintNet *g, int node, int *arc)
{
    const Vertex *v = &g->node[node];
    int n = 0;

    for (int i = 0; i < v->n_edges && n < 3; i++)
        if (!g->arc[v->edge[i]].is_gone)
            arc[n++] = v->edge[i];
    return n;
}

static int other_end(const ConstraintNet *g, int arc, int node)
{
    const Arc *e = &g->arc[arc];
    return e->end[e->end[0] == node];
}

// Bucket elimination (Dechter 1999) of a vertex with at most one neighbour.
static void eliminate_leaf(ConstraintNet *g, int node, int n, int arc)
{
    Vertex *v = &g->node[node];
    int64_t least = COST_FORBIDDEN;

    if (n == 0) {
        for (int k = 0; k < v->k; k++)
            least = v->cost[k] < least ? v->cost[k] : least;
        g->offset += least;
        vertex_eliminate(g, node, 0, NULL);
        return;
    }
    int to = other_end(g, arc, node);
    Vertex *o = &g->node[to];
    int side = g->arc[arc].end[1] == node;
    for (int l = 0; l < o->k; l++) {
        least = COST_FORBIDDEN;
        for (int k = 0; k < v->k; k++) {
            int64_t c = cost_add(v->cost[k], *arc_at(g, &g->arc[arc], side, k, l));
            least = c < least ? c : least;
        }
        o->is_dead[l] |= is_forbidden(least);
        o->cost[l] += least;
    }
    vertex_eliminate(g, node, 1, &arc);
    vertex_compact(g, to);
}

// to[j] = min over alternatives k of v of (cost of k + row[k] + cost[k][j]). `sum` is scratch for
// v->k numbers. sums_fit() keeps allowed sums well below those with a forbidden cost.
static void least_sums(const Vertex *v, const int64_t *row, const int64_t *cost, int n,
                       int64_t *sum, int64_t *to)
{
    for (int k = 0; k < v->k; k++)
        sum[k] = cost_add(v->cost[k], row[k]);
    minplus_whole(cost, v->k, n, sum, to);
    for (int j = 0; j < n; j++)
        to[j] = to[j] > COST_FORBIDDEN / 2 ? COST_FORBIDDEN : to[j];
}

static void eliminate_inner(ConstraintNet *g, int node, const int *arc)
{
    Vertex *v = &g->node[node];
    const Arc *e = &g->arc[arc[0]], *f = &g->arc[arc[1]];
    int a = other_end(g, arc[0], node), b = other_end(g, arc[1], node);
    int ka = g->node[a].k, kb = g->node[b].k;
    int64_t *cost = arena_array(g->arena, int64_t, (size_t)ka * (size_t)kb);

    Arena *own = arena_new();
    ArcView from = view_of(own, g, e, e->end[0] == node),
            to = view_of(own, g, f, f->end[1] == node);
    int64_t *sum = arena_array(own, int64_t, v->k);
    for (int i = 0; i < ka; i++)
        least_sums(v, from.cost + (size_t)i * (size_t)v->k, to.cost, kb, sum,
                   cost + (size_t)i * (size_t)kb);
    arena_free(own);
    vertex_eliminate(g, node, 2, arc);
    arc_put(g, a, b, cost);
}

// Eliminates a vertex with at most two neighbours if that adds few pairs compared to those that it
// removes.
static bool eliminate(ConstraintNet *g, int node)
{
    int arc[3] = {0}, n = arcs_of(g, node, arc);
    const Vertex *v = &g->node[node];

    if (n > 2 || !bytes_are_equal(v))
        return false;
    if (n < 2) {
        net_note(g, RULE_ELIMINATE, node, 0);
        eliminate_leaf(g, node, n, arc[0]);
        return true;
    }
    int64_t ka = g->node[other_end(g, arc[0], node)].k, k = v->k;
    int64_t kb = g->node[other_end(g, arc[1], node)].k;
    if (ka * kb > 2 * k * (ka + kb) || ka * kb * k > 100000000)
        return false;
    net_note(g, RULE_ELIMINATE, node, 0);
    eliminate_inner(g, node, arc);
    return true;
}

// Eliminates a vertex, if it can, before comparing its alternatives: the least sums never belong to
// an alternative that another replaces.
static bool simplify(ConstraintNet *g, int node)
{
    if (eliminate(g, node))
        return true;
    if (g->replay || g->node[node].k < 2 || !dominate(g, node))
        return false;
    eliminate(g, node);
    return true;
}

bool net_dominate(ConstraintNet *g)
{
    bool changed = false;

    for (int i = 0; i < g->n_nodes && !g->may_overflow; i++) {
        Vertex *v = &g->node[i];
        if (v->state != LIVE || !v->is_dirty)
            continue;
        v->is_dirty = false;
        changed |= simplify(g, i);
    }
    return changed;
}
