// The graph of presolve: ties found by their ends, nodes that merge and leave.
#include "solver/presolve.h"

#include <stdlib.h>
#include <string.h>

static bool tie_joins(const Tie *e, int a, int b)
{
    return (e->end[0] == a && e->end[1] == b) || (e->end[0] == b && e->end[1] == a);
}

// Where the tie of a and b is in the hash, or would be. A slot keeps naming a tie that is gone:
// it stands for nothing until the table is renewed.
static size_t slot_of(const Net *g, int a, int b)
{
    int ends[2] = {a < b ? a : b, a < b ? b : a};
    size_t mask = (size_t)g->n_slots - 1, i = hash_bytes(ends, sizeof ends, 0) & mask;

    while (g->slot[i]) {
        const Tie *e = &g->tie[g->slot[i] - 1];
        if (!e->is_gone && tie_joins(e, a, b))
            break;
        i = (i + 1) & mask;
    }
    return i;
}

static void slots_renew(Net *g)
{
    arena_drop(g->arena, g->slot, (size_t)g->n_slots, sizeof *g->slot);
    g->n_slots = 1024;
    while (g->n_slots < 4 * g->n_ties)
        g->n_slots *= 2;
    g->slot = arena_array(g->arena, int, g->n_slots);
    for (int e = 0; e < g->n_ties; e++)
        if (!g->tie[e].is_gone)
            g->slot[slot_of(g, g->tie[e].end[0], g->tie[e].end[1])] = e + 1;
}

static int tie_find(const Net *g, int a, int b) { return g->slot[slot_of(g, a, b)] - 1; }

static int tie_new(Net *g, int a, int b, int64_t *cost, bool is_own)
{
    int id = g->n_ties;

    *arena_push(g->arena, g->tie, g->n_ties, g->cap_ties) =
        (Tie){.end = {a, b}, .cost = cost, .is_own = is_own};
    for (int s = 0; s < 2; s++) {
        Vertex *v = &g->node[s ? b : a];
        *arena_push(g->arena, v->edge, v->n_edges, v->cap) = id;
        v->is_dirty = true;
    }
    if (2 * g->n_ties >= g->n_slots)
        slots_renew(g);
    else
        g->slot[slot_of(g, a, b)] = id + 1;
    net_queue(g, id);
    return id;
}

void net_queue(Net *g, int tie)
{
    if (g->tie[tie].is_queued || g->tie[tie].is_gone)
        return;
    g->tie[tie].is_queued = true;
    *arena_push(g->arena, g->queue, g->n_queue, g->cap_queue) = tie;
}

void net_build(Net *g, const Problem *p, Arena *a)
{
    *g = (Net){.arena = a, .n_nodes = p->n_nodes, .limit = p->limit};
    g->node = arena_array(a, Vertex, p->n_nodes);
    g->merged = arena_array(a, int, p->n_nodes);
    for (int i = 0; i < p->n_nodes; i++) {
        Vertex *v = &g->node[i];
        v->k = v->n_ids = n_alternatives(p, i);
        v->id = arena_array(a, int, v->k);
        v->cost = arena_array(a, int64_t, v->k);
        v->is_dead = arena_array(a, bool, v->k);
        v->is_dirty = true;
        for (int k = 0; k < v->k; k++) {
            v->id[k] = k;
            v->cost[k] = p->cost[p->first[i] + k];
            v->is_dead[k] = is_forbidden(v->cost[k]);
        }
        g->is_impossible |= v->k == 0;
    }
    for (int e = 0; e < p->n_edges; e++)  // written to only where tie_own has made a copy
        tie_new(g, p->edge[e].a, p->edge[e].b, (int64_t *)(uintptr_t)p->edge[e].cost, false);
}

void tie_own(Net *g, Tie *e)
{
    size_t n = (size_t)g->node[e->end[0]].k * (size_t)g->node[e->end[1]].k;

    if (e->is_own)
        return;
    int64_t *copy = arena_array(g->arena, int64_t, n);
    memcpy(copy, e->cost, n * sizeof *copy);
    e->cost = copy;
    e->is_own = true;
}

void tie_remove(Net *g, int tie)
{
    Tie *e = &g->tie[tie];

    e->is_gone = true;
    for (int s = 0; s < 2; s++)
        g->node[e->end[s]].is_dirty = true;
}

// Keeps the rows and columns of a tie whose alternatives live.
static void tie_compact(Net *g, Tie *e, const Vertex *v, int side)
{
    const Vertex *a = &g->node[e->end[0]], *b = &g->node[e->end[1]];
    size_t to = 0;

    tie_own(g, e);
    for (int k = 0; k < a->k; k++)
        for (int l = 0; l < b->k; l++)
            if (!v->is_dead[side ? l : k])
                e->cost[to++] = e->cost[(size_t)k * (size_t)b->k + (size_t)l];
}

void vertex_compact(Net *g, int node)
{
    Vertex *v = &g->node[node];
    int to = 0, n = 0;

    for (int k = 0; k < v->k; k++)
        n += v->is_dead[k];
    if (n == 0)
        return;
    for (int i = 0; i < v->n_edges; i++) {
        Tie *e = &g->tie[v->edge[i]];
        if (e->is_gone)
            continue;
        tie_compact(g, e, v, e->end[1] == node);
        net_queue(g, v->edge[i]);
        g->node[e->end[e->end[0] == node]].is_dirty = true;
    }
    for (int r = 0; r < v->n_held; r++)
        for (int k = to = 0; k < v->k; k++)
            if (!v->is_dead[k])
                v->held[r].bytes[to++] = v->held[r].bytes[k];
    for (int k = to = 0; k < v->k; k++)
        if (!v->is_dead[k]) {
            v->id[to] = v->id[k];
            v->cost[to++] = v->cost[k];
        }
    memset(v->is_dead, 0, (size_t)v->k * sizeof *v->is_dead);
    v->k = to;
    v->is_dirty = true;
    g->is_impossible |= to == 0;
}

void tie_put(Net *g, int a, int b, int64_t *cost)
{
    int found = tie_find(g, a, b);
    int ka = g->node[a].k, kb = g->node[b].k;

    if (found < 0) {
        tie_new(g, a, b, cost, true);
        return;
    }
    Tie *e = &g->tie[found];
    int side = e->end[1] == a;
    tie_own(g, e);
    for (int k = 0; k < ka; k++)
        for (int l = 0; l < kb; l++) {
            int64_t *at = tie_at(g, e, side, k, l);
            *at = cost_add(*at, cost[(size_t)k * (size_t)kb + (size_t)l]);
        }
    g->node[a].is_dirty = g->node[b].is_dirty = true;
    net_queue(g, found);
}

void vertex_leave(Net *g, int node, int n, const int *tie)
{
    Vertex *v = &g->node[node];
    Leave *s = arena_push(g->arena, g->leave, g->n_leaves, g->cap_leaves);

    *s = (Leave){.node = node, .n = n, .k = v->k, .id = v->id, .cost = v->cost};
    for (int i = 0; i < n; i++) {
        Tie *e = &g->tie[tie[i]];
        int other = e->end[e->end[0] == node];
        const Vertex *o = &g->node[other];
        s->side[i] = (struct Side){other, o->k, arena_array(g->arena, int, o->k), e->cost,
                                   e->end[0] == node};
        memcpy(s->side[i].id, o->id, (size_t)o->k * sizeof *o->id);
        tie_remove(g, tie[i]);
    }
    v->state = OUT;
}

// The ties of `gone` go over to `into`, row f[k] as row k.
static void ties_move(Net *g, int into, int gone, const int *f)
{
    int ka = g->node[into].k, n = g->node[gone].n_edges;

    for (int i = 0; i < n; i++) {
        int id = g->node[gone].edge[i];
        const Tie *e = &g->tie[id];
        if (e->is_gone)
            continue;
        int side = e->end[1] == gone, other = e->end[!side], kc = g->node[other].k;
        int64_t *cost = arena_array(g->arena, int64_t, (size_t)ka * (size_t)kc);
        for (int k = 0; k < ka; k++)
            for (int l = 0; l < kc; l++)
                cost[(size_t)k * (size_t)kc + (size_t)l] = *tie_at(g, e, side, f[k], l);
        tie_remove(g, id);
        tie_put(g, into, other, cost);
    }
}

void vertex_merge(Net *g, int into, int gone, int tie, const int *f)
{
    Vertex *a = &g->node[into], *b = &g->node[gone];
    const Tie *e = &g->tie[tie];
    int side = e->end[1] == into;

    net_note(g, RULE_MERGE, gone, into);
    b->parent = into;
    b->map = arena_array(g->arena, int, a->n_ids);
    for (int k = 0; k < a->k; k++) {
        b->map[a->id[k]] = b->id[f[k]];
        a->cost[k] += b->cost[f[k]] + *tie_at(g, e, side, k, f[k]);
    }
    vertex_leave(g, gone, 1, &tie);
    b->state = MERGED;
    g->merged[g->n_merged++] = gone;
    ties_move(g, into, gone, f);
    a->is_dirty = true;
}
