// Joins the edges between the same two nodes into one.
#include <stdlib.h>

#include "solver/assign/internal.h"

// Edge `e` with its two nodes in ascending order.
typedef struct EdgeEnds {
    int low, high, e;
} EdgeEnds;

static int compare_edge_ends(const void *x, const void *y)
{
    const EdgeEnds *p = x, *q = y;

    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    return p->e < q->e ? -1 : p->e > q->e;
}

// Adds x to *sum. False where the sum of two finite costs reaches COST_FORBIDDEN in size.
static bool add_costs(int64_t *sum, int64_t x)
{
    if (is_forbidden(*sum) || is_forbidden(x)) {
        *sum = COST_FORBIDDEN;
        return true;
    }
    *sum += x;
    return !is_forbidden(*sum) && *sum > -COST_FORBIDDEN;
}

// Adds the costs of edge `from` to the matrix `to`, which lies as that of edge `like`.
static bool add_edge(const Problem *p, int64_t *to, const Edge *like, const Edge *from)
{
    int n = n_alternatives(p, like->a), m = n_alternatives(p, like->b);

    for (int k = 0; k < n; k++)
        for (int l = 0; l < m; l++)
            if (!add_costs(&to[k * m + l], from->cost[from->a == like->a ? k * m + l : l * n + k]))
                return false;
    return true;
}

static bool add_loop(Problem *p, const Edge *e)
{
    int n = n_alternatives(p, e->a);

    for (int k = 0; k < n; k++)
        if (!add_costs(&p->cost[p->first[e->a] + k], e->cost[k * n + k]))
            return false;
    return true;
}

// Joins n edges that have the same two nodes into the first of them.
static bool join(Arena *a, Problem *p, const EdgeEnds *edge_ends, int n)
{
    Edge *e = &p->edge[edge_ends[0].e];
    int64_t *cost = arena_array(a, int64_t, edge_pairs(p, edge_ends[0].e));

    for (int i = 0; i < n; i++)
        if (!add_edge(p, cost, e, &p->edge[edge_ends[i].e]))
            return false;
    e->cost = cost;
    return true;
}

// Joins all edges. An edge that goes gets a == b.
static bool join_all(Arena *a, Problem *p, const EdgeEnds *edge_ends, Diag *d)
{
    for (int i = 0, n; i < p->n_edges; i += n) {
        bool ok = true;
        for (n = 1; i + n < p->n_edges && edge_ends[i + n].low == edge_ends[i].low &&
                    edge_ends[i + n].high == edge_ends[i].high;)
            n++;
        if (edge_ends[i].low == edge_ends[i].high)
            for (int k = 0; k < n && ok; k++)
                ok = add_loop(p, &p->edge[edge_ends[i + k].e]);
        else if (n > 1)
            ok = join(a, p, edge_ends + i, n);
        for (int k = 1; k < n; k++)
            p->edge[edge_ends[i + k].e].b = p->edge[edge_ends[i + k].e].a;
        if (!ok) {
            diag_error(d, "edges between nodes %d and %d: a sum of costs reaches 10^18",
                       edge_ends[i].low, edge_ends[i].high);
            return false;
        }
    }
    return true;
}

bool problem_join_edges(Arena *a, Problem *p, Diag *d)
{
    Arena *scratch = arena_new();
    EdgeEnds *edge_ends = arena_array(scratch, EdgeEnds, p->n_edges);
    int n = 0;

    for (int e = 0; e < p->n_edges; e++) {
        int x = p->edge[e].a, y = p->edge[e].b;
        edge_ends[e] = (EdgeEnds){x < y ? x : y, x < y ? y : x, e};
    }
    qsort(edge_ends, (size_t)p->n_edges, sizeof *edge_ends, compare_edge_ends);
    bool ok = join_all(a, p, edge_ends, d);
    arena_free(scratch);
    for (int e = 0; ok && e < p->n_edges; e++)
        if (p->edge[e].a != p->edge[e].b)
            p->edge[n++] = p->edge[e];
    p->n_edges = ok ? n : p->n_edges;
    return ok;
}
