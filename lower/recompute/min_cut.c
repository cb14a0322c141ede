// Finds minimum cuts by maximum flows.
#include <string.h>

#include "lower/recompute/min_cut.h"

Cut cut_new(Arena *a, int n_nodes)
{
    Cut c = {.arena = a, .n_nodes = n_nodes, .head = arena_array(a, int, n_nodes)};

    memset(c.head, -1, sizeof(int) * (size_t)n_nodes);
    return c;
}

static void add_edge(Cut *c, int from, int to, int64_t residual)
{
    CutEdge *e = arena_push(c->arena, c->edges, c->n_edges, c->cap_edges);

    *e = (CutEdge){to, c->head[from], residual};
    c->head[from] = c->n_edges - 1;
}

void cut_edge(Cut *c, int from, int to, int64_t capacity)
{
    add_edge(c, from, to, capacity);
    add_edge(c, to, from, 0);
}

// Finds distances from the source along edges with residual capacity; -1: out of reach. True if the
// sink is in reach.
static bool find_levels(const Cut *c, int source, int sink, int *level, int *queue)
{
    int n = 0;

    memset(level, -1, sizeof(int) * (size_t)c->n_nodes);
    level[source] = 0;
    queue[n++] = source;
    for (int i = 0; i < n; i++)
        for (int e = c->head[queue[i]]; e >= 0; e = c->edges[e].next)
            if (c->edges[e].residual && level[c->edges[e].to] < 0) {
                level[c->edges[e].to] = level[queue[i]] + 1;
                queue[n++] = c->edges[e].to;
            }
    return level[sink] >= 0;
}

// Pushes as much flow as the path can take and returns it. `keep` gets the number of the path's
// edges before its first full one.
static int64_t augment(Cut *c, const int *path, int n, int *keep)
{
    int64_t flow = CUT_INFINITE;

    for (int i = 0; i < n; i++)
        flow = c->edges[path[i]].residual < flow ? c->edges[path[i]].residual : flow;
    *keep = n;
    for (int i = n - 1; i >= 0; i--) {
        c->edges[path[i]].residual -= flow;
        c->edges[path[i] ^ 1].residual += flow;
        if (!c->edges[path[i]].residual)
            *keep = i;
    }
    return flow;
}

// Sends flow along all shortest paths. `next` has by node its first edge that isn't given up yet.
static int64_t find_blocking_flow(Cut *c, int source, int sink, const int *level, int *next,
                                  int *path)
{
    int64_t flow = 0;
    int at = source, n = 0;

    memcpy(next, c->head, sizeof(int) * (size_t)c->n_nodes);
    for (;;) {
        if (at == sink) {
            flow += augment(c, path, n, &n);
            at = c->edges[path[n] ^ 1].to;
        }
        int e = next[at];
        if (e < 0) {  // a dead end: one step back
            if (!n)
                return flow;
            at = c->edges[path[--n] ^ 1].to;
            next[at] = c->edges[next[at]].next;
        } else if (c->edges[e].residual && level[c->edges[e].to] == level[at] + 1) {
            path[n++] = e;
            at = c->edges[e].to;
        } else {
            next[at] = c->edges[e].next;
        }
    }
}

// Finds the nodes that can still reach the sink: they are the sink's side of the cut.
static void find_sink_side(const Cut *c, int sink, bool *is_sink_side, int *queue)
{
    int n = 0;

    memset(is_sink_side, 0, sizeof(bool) * (size_t)c->n_nodes);
    is_sink_side[sink] = true;
    queue[n++] = sink;
    for (int i = 0; i < n; i++)
        for (int e = c->head[queue[i]]; e >= 0; e = c->edges[e].next)
            if (c->edges[e ^ 1].residual && !is_sink_side[c->edges[e].to]) {
                is_sink_side[c->edges[e].to] = true;
                queue[n++] = c->edges[e].to;
            }
}

int64_t cut_solve(Cut *c, int source, int sink, bool *is_sink_side)
{
    int *level = arena_array(c->arena, int, c->n_nodes),
        *queue = arena_array(c->arena, int, c->n_nodes),
        *next = arena_array(c->arena, int, c->n_nodes);
    int64_t flow = 0;

    while (find_levels(c, source, sink, level, queue))
        flow += find_blocking_flow(c, source, sink, level, next, queue);
    find_sink_side(c, sink, is_sink_side, queue);
    return flow;
}
