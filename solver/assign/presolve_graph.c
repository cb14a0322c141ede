// The constraint net of presolve: finds arcs by their ends, and merges and removes vertices.
#include "solver/assign/presolve.h"

#include <stdlib.h>
#include <string.h>

static bool arc_joins(const Arc *e, int a, int b)
{
    return (e->end[0] == a && e->end[1] == b) || (e->end[0] == b && e->end[1] == a);
}

// The slot of the arc of a and b in the hash table, or the empty slot for it. An arc that is gone
// stays in its slot, and matches nothing, until the table is rebuilt.
static size_t slot_of(const ConstraintNet *g, int a, int b)
{
    int ends[2] = {a < b ? a : b, a < b ? b : a};
    size_t mask = (size_t)g->n_slots - 1, i = hash_bytes(ends, sizeof ends, 0) & mask;

    while (g->slot[i]) {
        const Arc *e = &g->arc[g->slot[i] - 1];
        if (!e->is_gone && arc_joins(e, a, b))
            break;
        i = (i + 1) & mask;
    }
    return i;
}

static void slots_renew(ConstraintNet *g)
{
    arena_drop(g->arena, g->slot, (size_t)g->n_slots, sizeof *g->slot);
    g->n_slots = 1024;
    while (g->n_slots < 4 * g->n_arcs)
        g->n_slots *= 2;
    g->slot = arena_array(g->arena, int, g->n_slots);
    for (int e = 0; e < g->n_arcs; e++)
        if (!g->arc[e].is_gone)
            g->slot[slot_of(g, g->arc[e].end[0], g->arc[e].end[1])] = e + 1;
}

static int arc_find(const ConstraintNet *g, int a, int b) { return g->slot[slot_of(g, a, b)] - 1; }

static int arc_new(ConstraintNet *g, int a, int b, int64_t *cost, bool is_own)
{
    int id = g->n_arcs;

    *arena_push(g->arena, g->arc, g->n_arcs, g->cap_arcs) =
        (Arc){.end = {a, b}, .cost = cost, .is_own = is_own};
    for (int s = 0; s < 2; s++) {
        Vertex *v = &g->node[s ? b : a];
        *arena_push(g->arena, v->edge, v->n_edges, v->cap) = id;
        v->is_dirty = true;
    }
    if (2 * g->n_arcs >= g->n_slots)
        slots_renew(g);
    else
        g->slot[slot_of(g, a, b)] = id + 1;
    net_queue(g, id);
    return id;
}

void net_queue(ConstraintNet *g, int arc)
{
    if (g->arc[arc].is_queued || g->arc[arc].is_gone)
        return;
    g->arc[arc].is_queued = true;
    *arena_push(g->arena, g->queue, g->n_queue, g->cap_queue) = arc;
}

void net_build(Arena *a, ConstraintNet *g, const Problem *p)
{
    *g = (ConstraintNet){.arena = a, .n_nodes = p->n_nodes, .limit = p->limit};
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
    for (int e = 0; e < p->n_edges; e++)  // written to only where arc_own has made a copy
        arc_new(g, p->edge[e].a, p->edge[e].b, (int64_t *)(uintptr_t)p->edge[e].cost, false);
}

void arc_own(ConstraintNet *g, Arc *e)
{
    size_t n = (size_t)g->node[e->end[0]].k * (size_t)g->node[e->end[1]].k;

    if (e->is_own)
        return;
    int64_t *copy = arena_array(g->arena, int64_t, n);
    memcpy(copy, e->cost, n * sizeof *copy);
    e->cost = copy;
    e->is_own = true;
}

void arc_remove(ConstraintNet *g, int arc)
{
    Arc *e = &g->arc[arc];

    e->is_gone = true;
    for (int s = 0; s < 2; s++)
        g->node[e->end[s]].is_dirty = true;
}

// Removes an arc's rows or columns of v's dead alternatives.
static void arc_compact(ConstraintNet *g, Arc *e, const Vertex *v, int side)
{
    const Vertex *a = &g->node[e->end[0]], *b = &g->node[e->end[1]];
    size_t to = 0;

    arc_own(g, e);
    for (int k = 0; k < a->k; k++)
        for (int l = 0; l < b->k; l++)
            if (!v->is_dead[side ? l : k])
                e->cost[to++] = e->cost[(size_t)k * (size_t)b->k + (size_t)l];
}

void vertex_compact(ConstraintNet *g, int node)
{
    Vertex *v = &g->node[node];
    int to = 0, n = 0;

    for (int k = 0; k < v->k; k++)
        n += v->is_dead[k];
    if (n == 0)
        return;
    for (int i = 0; i < v->n_edges; i++) {
        Arc *e = &g->arc[v->edge[i]];
        if (e->is_gone)
            continue;
        arc_compact(g, e, v, e->end[1] == node);
        net_queue(g, v->edge[i]);
        g->node[e->end[e->end[0] == node]].is_dirty = true;
    }
    for (int r = 0; r < v->n_joint; r++)
        for (int k = to = 0; k < v->k; k++)
            if (!v->is_dead[k])
                v->joint[r].bytes[to++] = v->joint[r].bytes[k];
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

void arc_put(ConstraintNet *g, int a, int b, int64_t *cost)
{
    int found = arc_find(g, a, b);
    int ka = g->node[a].k, kb = g->node[b].k;

    if (found < 0) {
        arc_new(g, a, b, cost, true);
        return;
    }
    Arc *e = &g->arc[found];
    int side = e->end[1] == a;
    arc_own(g, e);
    for (int k = 0; k < ka; k++)
        for (int l = 0; l < kb; l++) {
            int64_t *at = arc_at(g, e, side, k, l);
            *at = cost_add(*at, cost[(size_t)k * (size_t)kb + (size_t)l]);
        }
    g->node[a].is_dirty = g->node[b].is_dirty = true;
    net_queue(g, found);
}

void vertex_eliminate(ConstraintNet *g, int node, int n, const int *arc)
{
    Vertex *v = &g->node[node];
    Elimination *s = arena_push(g->arena, g->elimination, g->n_eliminations, g->cap_eliminations);

    *s = (Elimination){.node = node, .n = n, .k = v->k, .id = v->id, .cost = v->cost};
    for (int i = 0; i < n; i++) {
        Arc *e = &g->arc[arc[i]];
        int other = e->end[e->end[0] == node];
        const Vertex *o = &g->node[other];
        s->side[i] = (struct Side){other, o->k, arena_array(g->arena, int, o->k), e->cost,
                                   e->end[0] == node};
        memcpy(s->side[i].id, o->id, (size_t)o->k * sizeof *o->id);
        arc_remove(g, arc[i]);
    }
    v->state = OUT;
}

// Moves the arcs of `gone` to `into`: row f[k] becomes row k.
static void arcs_move(ConstraintNet *g, int into, int gone, const int *f)
{
    int ka = g->node[into].k, n = g->node[gone].n_edges;

    for (int i = 0; i < n; i++) {
        int id = g->node[gone].edge[i];
        const Arc *e = &g->arc[id];
        if (e->is_gone)
            continue;
        int side = e->end[1] == gone, other = e->end[!side], kc = g->node[other].k;
        int64_t *cost = arena_array(g->arena, int64_t, (size_t)ka * (size_t)kc);
        for (int k = 0; k < ka; k++)
            for (int l = 0; l < kc; l++)
                cost[(size_t)k * (size_t)kc + (size_t)l] = *arc_at(g, e, side, f[k], l);
        arc_remove(g, id);
        arc_put(g, into, other, cost);
    }
}

void vertex_merge(ConstraintNet *g, int into, int gone, int arc, const int *f)
{
    Vertex *a = &g->node[into], *b = &g->node[gone];
    const Arc *e = &g->arc[arc];
    int side = e->end[1] == into;

    net_note(g, RULE_MERGE, gone, into);
    b->parent = into;
    b->map = arena_array(g->arena, int, a->n_ids);
    for (int k = 0; k < a->k; k++) {
        b->map[a->id[k]] = b->id[f[k]];
        a->cost[k] += b->cost[f[k]] + *arc_at(g, e, side, k, f[k]);
    }
    vertex_eliminate(g, gone, 1, &arc);
    b->state = MERGED;
    g->merged[g->n_merged++] = gone;
    arcs_move(g, into, gone, f);
    a->is_dirty = true;
}
