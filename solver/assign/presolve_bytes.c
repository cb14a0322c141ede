// The bytes of presolve. Every original node keeps its own rows. The joint rows of a remaining
// vertex are summed afresh each round from all nodes merged into it, so that a merge costs nothing.
// Only times that can bind are kept.
#include "solver/assign/presolve.h"

#include <stdlib.h>
#include <string.h>

static int by_int(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

static int sort_unique(int *x, int n)
{
    int to = 0;

    if (n == 0)
        return 0;
    qsort(x, (size_t)n, sizeof *x, by_int);
    for (int i = 0; i < n; i++)
        if (to == 0 || x[i] != x[to - 1])
            x[to++] = x[i];
    return to;
}

// Makes rows in the problem's times, by cutting the live bytes of a node's alternatives at all
// their ends.
static void rows_read(ConstraintNet *g, const Problem *p, int node)
{
    Vertex *v = &g->node[node];
    int from = p->first_live[p->first[node]], n = p->first_live[p->first[node + 1]] - from;
    int *cut = arena_array(g->arena, int, 2 * (size_t)n), n_cuts = 0;

    for (int u = from; u < from + n; u++) {
        cut[n_cuts++] = p->live[u].first;
        cut[n_cuts++] = p->live[u].last;
    }
    n_cuts = sort_unique(cut, n_cuts);
    v->n_rows = n_cuts > 1 ? n_cuts - 1 : 0;
    v->row = arena_array(g->arena, Row, v->n_rows);
    for (int r = 0; r < v->n_rows; r++)
        v->row[r] = (Row){cut[r], cut[r + 1], arena_array(g->arena, int64_t, v->n_ids)};
    for (int k = 0; k < v->n_ids; k++) {
        int alternative = p->first[node] + k;
        for (int u = p->first_live[alternative]; u < p->first_live[alternative + 1]; u++)
            for (int r = lower(cut, n_cuts, p->live[u].first); cut[r] < p->live[u].last; r++)
                v->row[r].bytes[k] += p->live[u].bytes;
    }
}

// Finds the times to keep. All rows that are alive at one time are also alive, with more, at the
// last time before a row ends after another began. These times are the maximal cliques of the
// intervals.
static void times_read(ConstraintNet *g)
{
    int n = 0, to = 0, f = 0, *first, *last;

    for (int i = 0; i < g->n_nodes; i++)
        n += g->node[i].n_rows;
    first = arena_array(g->arena, int, n);
    last = arena_array(g->arena, int, n);
    for (int i = n = 0; i < g->n_nodes; i++)
        for (int r = 0; r < g->node[i].n_rows; r++, n++) {
            first[n] = g->node[i].row[r].first;
            last[n] = g->node[i].row[r].last;
        }
    qsort(first, (size_t)n, sizeof *first, by_int);
    qsort(last, (size_t)n, sizeof *last, by_int);
    g->time = arena_array(g->arena, int, n);
    for (int l = 0; l < n; l++) {
        bool began = false;
        for (; f < n && first[f] < last[l]; f++)
            began = true;
        if (began)
            g->time[to++] = last[l] - 1;
    }
    g->n_times = to;
}

// Renumbers rows: turns their times into indices of the n ascending values in `time`.
static void rows_renumber(ConstraintNet *g, const int *time, int n)
{
    for (int i = 0; i < g->n_nodes; i++) {
        Vertex *v = &g->node[i];
        int to = 0;
        for (int r = 0; r < v->n_rows; r++) {
            Row row = {lower(time, n, v->row[r].first), lower(time, n, v->row[r].last),
                       v->row[r].bytes};
            if (row.first < row.last)
                v->row[to++] = row;
        }
        v->n_rows = to;
    }
}

void bytes_read(ConstraintNet *g, const Problem *p)
{
    for (int i = 0; i < g->n_nodes; i++)
        rows_read(g, p, i);
    times_read(g);
    rows_renumber(g, g->time, g->n_times);
}

// The moment at which the bytes of a remaining vertex's row begin (sign 1) or end (-1).
typedef struct Event {
    int at, sign;
    int64_t *bytes;
} Event;

static int by_time(const void *x, const void *y)
{
    const Event *a = x, *b = y;
    return (a->at > b->at) - (a->at < b->at);
}

typedef struct Members {
    int n, cap;
    struct Part {
        int node, *goes_with;  // [k]: the member's alternative that goes with alternative k
    } * part;
} Members;

// The members of each remaining vertex: itself and all nodes merged into it.
static Members *members_find(Arena *a, const ConstraintNet *g)
{
    Members *all = arena_array(a, Members, g->n_nodes);
    int *merged_into = arena_array(a, int, g->n_nodes);
    int **goes_with = arena_array(a, int *, g->n_nodes);

    for (int i = 0; i < g->n_nodes; i++)
        if (g->node[i].state != MERGED) {
            merged_into[i] = i;
            goes_with[i] = g->node[i].id;
            *arena_push(a, all[i].part, all[i].n, all[i].cap) = (struct Part){i, goes_with[i]};
        }
    for (int m = g->n_merged - 1; m >= 0; m--) {
        int i = g->merged[m], parent = g->node[i].parent, h = merged_into[parent];
        merged_into[i] = h;
        goes_with[i] = arena_array(a, int, g->node[h].k);
        for (int k = 0; k < g->node[h].k; k++)
            goes_with[i][k] = g->node[i].map[goes_with[parent][k]];
        *arena_push(a, all[h].part, all[h].n, all[h].cap) = (struct Part){i, goes_with[i]};
    }
    return all;
}

// Subtracts the least of n values from all and returns it. *is_flat: all are 0 now.
static int64_t take_least(int64_t *x, int n, bool *is_flat)
{
    int64_t least = x[0], most = x[0];

    for (int k = 1; k < n; k++) {
        least = x[k] < least ? x[k] : least;
        most = x[k] > most ? x[k] : most;
    }
    for (int k = 0; k < n; k++)
        x[k] -= least;
    *is_flat = least == most;
    return least;
}

// Collects the rows of all members as events. Adds the bytes that don't depend on the choice to
// `base`, as changes by time.
static int events_gather(Arena *a, const ConstraintNet *g, const Members *m, int n_alternatives,
                         int64_t *base, Event **event)
{
    int n = 0, cap = 0;
    bool is_flat;

    for (int i = 0; i < m->n; i++) {
        const Vertex *v = &g->node[m->part[i].node];
        for (int r = 0; r < v->n_rows; r++) {
            int64_t *x = arena_array(a, int64_t, n_alternatives);
            for (int k = 0; k < n_alternatives; k++)
                x[k] = v->row[r].bytes[m->part[i].goes_with[k]];
            int64_t least = take_least(x, n_alternatives, &is_flat);
            base[v->row[r].first] += least;
            base[v->row[r].last] -= least;
            if (is_flat)
                continue;
            *arena_push(a, *event, n, cap) = (Event){v->row[r].first, 1, x};
            *arena_push(a, *event, n, cap) = (Event){v->row[r].last, -1, x};
        }
    }
    return n;
}

// Sums events into the vertex's joint rows. Adds their least bytes to `base` and their most to
// `most`, as changes by time.
static void joint_sum(Arena *a, Vertex *v, Event *event, int n, int64_t *base, int64_t *most)
{
    int64_t *now = arena_array(a, int64_t, v->k);
    int cap = 0;
    bool is_flat;

    v->joint = NULL;
    v->n_joint = 0;
    if (n)
        qsort(event, (size_t)n, sizeof *event, by_time);
    for (int i = 0; i < n;) {
        int at = event[i].at;
        for (; i < n && event[i].at == at; i++)
            for (int k = 0; k < v->k; k++)
                now[k] += event[i].sign * event[i].bytes[k];
        if (i == n)
            break;
        int64_t *x = arena_array(a, int64_t, v->k), top = 0;
        memcpy(x, now, (size_t)v->k * sizeof *x);
        int64_t least = take_least(x, v->k, &is_flat);
        for (int k = 0; k < v->k; k++)
            top = x[k] > top ? x[k] : top;
        base[at] += least;
        base[event[i].at] -= least;
        most[at] += top;
        most[event[i].at] -= top;
        if (!is_flat)
            *arena_push(a, v->joint, v->n_joint, cap) = (Row){at, event[i].at, x};
    }
}

static void joint_renumber(Vertex *v, const int *kept, int n)
{
    int to = 0;

    for (int r = 0; r < v->n_joint; r++) {
        Row row = {lower(kept, n, v->joint[r].first), lower(kept, n, v->joint[r].last),
                   v->joint[r].bytes};
        if (row.first >= row.last)
            continue;
        if (to && v->joint[to - 1].last == row.first &&
            !memcmp(v->joint[to - 1].bytes, row.bytes, (size_t)v->k * sizeof *row.bytes))
            v->joint[to - 1].last = row.last;
        else
            v->joint[to++] = row;
    }
    v->n_joint = to;
}

// Drops the times at which even the most that can be held is within the limit.
static void times_filter(ConstraintNet *g, const int64_t *base, const int64_t *most)
{
    int *kept = arena_array(g->arena, int, g->n_times + 1), n = 0;
    int *time = arena_array(g->arena, int, g->n_times + 1);
    int64_t b = 0, m = 0;

    g->base = arena_array(g->arena, int64_t, g->n_times + 1);
    for (int t = 0; t < g->n_times; t++) {
        b += base[t];
        m += most[t];
        g->is_impossible |= b > g->limit;
        if (b + m > g->limit) {
            kept[n] = t;
            time[n] = g->time[t];
            g->base[n++] = b;
        }
    }
    rows_renumber(g, kept, n);
    for (int i = 0; i < g->n_nodes; i++)
        joint_renumber(&g->node[i], kept, n);
    g->time = time;
    g->n_times = n;
}

// Drops the alternatives that leave too few bytes for the cheapest alternatives, in bytes, of all
// other vertices.
static void alternatives_drop(ConstraintNet *g, int node)
{
    Vertex *v = &g->node[node];

    for (int r = 0; r < v->n_joint; r++) {
        int64_t base = 0;
        for (int t = v->joint[r].first; t < v->joint[r].last; t++)
            base = g->base[t] > base ? g->base[t] : base;
        for (int k = 0; k < v->k; k++)
            v->is_dead[k] |= base + v->joint[r].bytes[k] > g->limit;
    }
    vertex_compact(g, node);
}

static void rows_renew(ConstraintNet *g)
{
    Arena *a = arena_new();
    Members *all = members_find(a, g);
    int64_t *base = arena_array(a, int64_t, g->n_times + 1);
    int64_t *most = arena_array(a, int64_t, g->n_times + 1);

    for (int i = 0; i < g->n_nodes; i++) {
        Vertex *v = &g->node[i];
        Event *event = NULL;
        v->n_joint = 0;
        if (v->state == MERGED)
            continue;
        Arena *own = arena_new();
        int n = events_gather(own, g, &all[i], v->k, base, &event);
        joint_sum(g->round, v, event, n, base, most);
        arena_free(own);
    }
    times_filter(g, base, most);
    arena_free(a);
}

void bytes_update(ConstraintNet *g)
{
    arena_free(g->round);
    g->round = arena_new();
    if (g->n_times)  // without times, no vertex has rows
        rows_renew(g);
    net_note(g, RULE_FULL, 0, 0);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->node[i].state == LIVE)
            alternatives_drop(g, i);
}
