// Makes a problem smaller: applies rules in rounds until none finds anything, writes the rest as a
// problem, and translates its choices back.
#include "solver/assign/presolve.h"

#include <string.h>

// Are all sums of costs and bytes that the rules can form far from an overflow and from
// COST_FORBIDDEN?
static bool sums_fit(const Problem *p)
{
    const Wide most = COST_FORBIDDEN / 16;
    Wide cost = 0, bytes = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t b = 0;
        for (int k = p->first[i]; k < p->first[i + 1]; k++) {
            int64_t joint = 0;
            for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++)
                joint = p->live[u].bytes > joint ? p->live[u].bytes : joint;
            b = joint > b ? joint : b;
        }
        cost += row_most(p->cost + p->first[i], n_alternatives(p, i));
        bytes += b;
    }
    for (int e = 0; e < p->n_edges; e++)
        cost += row_most(p->edge[e].cost, edge_pairs(p, e));
    return cost < most && bytes < most && p->limit < most;
}

static void net_reduce(ConstraintNet *g)
{
    bool changed = true;

    while (changed && !g->is_impossible) {
        int before = g->n_times;
        net_propagate(g);
        if (g->is_impossible)
            return;
        bytes_update(g);
        for (int i = 0; i < g->n_nodes && g->n_times < before; i++)
            g->node[i].is_dirty = true;
        changed = false;
        while (!g->is_impossible && net_dominate(g))
            changed = true;
        changed |= g->n_queue > 0;
    }
}

// Writes the bytes of a vertex's alternatives as LiveBytes in the problem's times. Between two kept
// times of one LiveBytes, a choice holds no more than at one of the two.
static void live_write(const ConstraintNet *g, const Vertex *v, Problem *q, int *n, int *cap)
{
    Arena *a = g->arena;

    for (int k = 0; k < v->k; k++) {
        *q->first_live++ = *n;
        for (int r = 0; r < v->n_joint; r++)
            if (v->joint[r].bytes[k])
                *arena_push(a, q->live, *n, *cap) =
                    (LiveBytes){g->time[v->joint[r].first], g->time[v->joint[r].last - 1] + 1,
                                v->joint[r].bytes[k]};
    }
}

static void base_write(const ConstraintNet *g, Problem *q, int *n, int *cap)
{
    *q->first_live++ = *n;
    for (int t = 0, last; t < g->n_times; t = last) {
        for (last = t + 1; last < g->n_times && g->base[last] == g->base[t]; last++)
            ;
        if (g->base[t])
            *arena_push(g->arena, q->live, *n, *cap) =
                (LiveBytes){g->time[t], g->time[last - 1] + 1, g->base[t]};
    }
}

static void nodes_write(const ConstraintNet *g, const int *kept, int n_kept, Problem *q)
{
    Arena *a = g->arena;
    int n = 0, cap = 0, n_alternatives = 0, *first_live;

    for (int i = 0; i < n_kept; i++)
        n_alternatives += g->node[kept[i]].k;
    q->n_nodes = n_kept + (g->n_times > 0);
    q->first = arena_array(a, int, q->n_nodes + 1);
    q->cost = arena_array(a, int64_t, n_alternatives + 1);
    q->first_live = first_live = arena_array(a, int, n_alternatives + 2);
    for (int i = 0; i < n_kept; i++) {
        const Vertex *v = &g->node[kept[i]];
        q->first[i + 1] = q->first[i] + v->k;
        memcpy(q->cost + q->first[i], v->cost, (size_t)v->k * sizeof *v->cost);
        live_write(g, v, q, &n, &cap);
    }
    if (g->n_times > 0) {
        q->first[n_kept + 1] = n_alternatives + 1;
        base_write(g, q, &n, &cap);
    }
    *q->first_live = n;
    q->first_live = first_live;
}

static void edges_write(const ConstraintNet *g, const int *number, Problem *q)
{
    int cap = 0;

    for (int e = 0; e < g->n_arcs; e++)
        if (!g->arc[e].is_gone)
            *arena_push(g->arena, q->edge, q->n_edges, cap) =
                (Edge){number[g->arc[e].end[0]], number[g->arc[e].end[1]], g->arc[e].cost};
}

static void net_write(const ConstraintNet *g, const Problem *p, Presolved *r)
{
    Arena *a = g->arena;
    Undo *u = r->undo = arena_array(a, Undo, 1);
    int *number = arena_array(a, int, g->n_nodes);

    *u = (Undo){g->n_nodes,
                g->n_eliminations,
                0,
                g->elimination,
                arena_array(a, int, g->n_nodes),
                arena_array(a, int *, g->n_nodes)};
    for (int i = 0; i < g->n_nodes; i++)
        if (g->node[i].state == LIVE) {
            number[i] = u->n_kept;
            u->kept[u->n_kept] = i;
            u->id[u->n_kept++] = g->node[i].id;
        }
    r->problem = (Problem){.name = p->name, .limit = p->limit};
    nodes_write(g, u->kept, u->n_kept, &r->problem);
    edges_write(g, number, &r->problem);
    r->offset = g->offset;
    r->n_left = u->n_kept;
}

static bool net_run(ConstraintNet *g, const Problem *p, Presolved *r)
{
    net_reduce(g);
    if (!g->is_impossible)
        net_write(g, p, r);
    arena_free(g->round);
    return !g->is_impossible;
}

bool presolve(Arena *a, const Problem *p, const Dual *dual, Wide cutoff, Presolved *r)
{
    ConstraintNet g;

    net_build(a, &g, p);
    g.may_overflow = !sums_fit(p);
    bytes_read(&g, p);
    if (dual && !g.may_overflow)
        net_fix(&g, p, dual, cutoff);
    return net_run(&g, p, r);
}

bool presolve_plain(Arena *a, const Problem *p, Replay *replay, Presolved *r)
{
    ConstraintNet g;

    *replay = (Replay){0};
    net_build(a, &g, p);
    g.may_overflow = !sums_fit(p);
    bytes_read(&g, p);
    g.replay = replay;
    return net_run(&g, p, r);
}

int presolve_origin(const Presolved *r, int i, const int **alternative)
{
    *alternative = r->undo->id[i];
    return r->undo->kept[i];
}

static int position_of(const struct Side *s, int id)
{
    int k = 0;

    while (s->id[k] != id)
        k++;
    return k;
}

// The cheapest alternative of an eliminated vertex, given its neighbours' choices.
static int choose(const Elimination *s, const int *choice)
{
    int at[2], best = 0;
    int64_t least = INT64_MAX;

    for (int i = 0; i < s->n; i++)
        at[i] = position_of(&s->side[i], choice[s->side[i].node]);
    for (int k = 0; k < s->k; k++) {
        int64_t c = s->cost[k];
        for (int i = 0; i < s->n; i++)
            c = cost_add(c, s->side[i].is_transposed
                                ? s->side[i].cost[(size_t)k * (size_t)s->side[i].k + (size_t)at[i]]
                                : s->side[i].cost[(size_t)at[i] * (size_t)s->k + (size_t)k]);
        if (c < least) {
            least = c;
            best = k;
        }
    }
    return s->id[best];
}

void presolve_undo(const Presolved *r, const int *choice, int *original)
{
    const Undo *u = r->undo;

    for (int i = 0; i < u->n_kept; i++)
        original[u->kept[i]] = u->id[i][choice[i]];
    for (int s = u->n_eliminations - 1; s >= 0; s--)
        original[u->elimination[s].node] = choose(&u->elimination[s], original);
}
