// Drops the alternatives that hold more than the limit at some time even if all other nodes hold
// the least that they can.
#include <stdlib.h>

#include "solver/assign/check.h"

// The bytes that a vertex holds, with all vertices merged into it, over spans of time: bytes[i * n
// + k] is held by its alternative k from time[i] to before time[i + 1].
typedef struct NodeBytes {
    int n_times, *time;
    int64_t *bytes, *least;  // least, by span, of the remaining alternatives
} NodeBytes;

// A member of a vertex: the vertex itself or a node that is merged into it. alternative[k] is the
// member's alternative that goes with the vertex's alternative k.
typedef struct MergedNode {
    int node, *alternative;
} MergedNode;

typedef struct MergedNodes {
    int n, cap;
    MergedNode *merged;
} MergedNodes;

typedef struct Change {
    int time;
    int64_t bytes;
} Change;

static int compare_times(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

static int compare_changes(const void *x, const void *y)
{
    return compare_times(&((const Change *)x)->time, &((const Change *)y)->time);
}

// The members of all vertices that aren't merged. merged_into has no cycles, since a vertex never
// merges into one that is already gone.
static MergedNodes *merged_find(Arena *a, const Residual *r)
{
    int n = r->p->n_nodes;
    MergedNodes *all = arena_array(a, MergedNodes, n);

    for (int i = 0; i < n; i++) {
        int top = i;
        while (r->vertex[top].merged_into >= 0)
            top = r->vertex[top].merged_into;
        int *alternative = arena_array(a, int, r->vertex[top].n);
        for (int k = 0; k < r->vertex[top].n; k++)
            alternative[k] = k;
        *arena_push(a, all[top].merged, all[top].n, all[top].cap) = (MergedNode){i, alternative};
    }
    return all;
}

// Follows the merges from the vertex down to the member to fill in m.alternative.
static void merged_trace(Arena *a, const Residual *r, int top, MergedNode m)
{
    int depth = 0, *path;

    for (int i = m.node; i != top; i = r->vertex[i].merged_into)
        depth++;
    path = arena_array(a, int, depth + 1);
    for (int i = m.node, d = depth; i != top; i = r->vertex[i].merged_into)
        path[--d] = i;
    for (int k = 0; k < r->vertex[top].n; k++)
        for (int d = 0; d < depth && !r->vertex[top].is_out[k]; d++)
            m.alternative[k] = r->vertex[path[d]].partner[m.alternative[k]];
}

// The first index of n ascending times whose value is at least `at`.
static int index_of(const int *time, int n, int at)
{
    int low = 0, high = n;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (time[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Appends the times at which bytes of alternative k begin or end, of all members.
static void times_add(const Residual *r, const MergedNodes *m, int k, int *time, int *n)
{
    const Problem *p = r->p;

    for (int i = 0; i < m->n; i++) {
        int at = p->first[m->merged[i].node] + m->merged[i].alternative[k];
        for (int u = p->first_live[at]; u < p->first_live[at + 1]; u++) {
            time[(*n)++] = p->live[u].first;
            time[(*n)++] = p->live[u].last;
        }
    }
}

static void bytes_add(const Residual *r, const MergedNodes *m, int k, int n, const NodeBytes *h)
{
    const Problem *p = r->p;

    for (int i = 0; i < m->n; i++) {
        int at = p->first[m->merged[i].node] + m->merged[i].alternative[k];
        for (int u = p->first_live[at]; u < p->first_live[at + 1]; u++) {
            int64_t first = index_of(h->time, h->n_times, p->live[u].first);
            int64_t last = index_of(h->time, h->n_times, p->live[u].last);
            h->bytes[first * n + k] += p->live[u].bytes;
            h->bytes[last * n + k] -= p->live[u].bytes;
        }
    }
}

static int count_times(const Residual *r, const MergedNodes *m, int k)
{
    const Problem *p = r->p;
    int n = 0;

    for (int i = 0; i < m->n; i++) {
        int at = p->first[m->merged[i].node] + m->merged[i].alternative[k];
        n += 2 * (p->first_live[at + 1] - p->first_live[at]);
    }
    return n;
}

static NodeBytes node_bytes_new(Arena *a, const Residual *r, int node, const MergedNodes *m)
{
    const ResidualVertex *x = &r->vertex[node];
    NodeBytes h = {0};
    int n = 0;

    for (int k = 0; k < x->n; k++)
        n += x->is_out[k] ? 0 : count_times(r, m, k);
    h.time = arena_array(a, int, n);
    n = 0;
    for (int k = 0; k < x->n; k++)
        if (!x->is_out[k])
            times_add(r, m, k, h.time, &n);
    if (n)
        qsort(h.time, (size_t)n, sizeof *h.time, compare_times);
    for (int i = 0; i < n; i++)
        if (!h.n_times || h.time[i] != h.time[h.n_times - 1])
            h.time[h.n_times++] = h.time[i];
    h.bytes = arena_array(a, int64_t, (size_t)h.n_times * (size_t)x->n);
    h.least = arena_array(a, int64_t, h.n_times);
    for (int k = 0; k < x->n; k++)
        if (!x->is_out[k])
            bytes_add(r, m, k, x->n, &h);
    for (int i = 0; i < h.n_times; i++) {
        h.least[i] = INT64_MAX;
        for (int k = 0; k < x->n; k++) {
            int64_t *now = &h.bytes[(int64_t)i * x->n + k];
            *now += i ? now[-x->n] : 0;
            h.least[i] = !x->is_out[k] && *now < h.least[i] ? *now : h.least[i];
        }
    }
    return h;
}

// ---- the sum of all vertices' least bytes, and its maximum over a span ----

// The sums by ascending time. most[j][i] is the largest of the 2^j sums from i on.
typedef struct Base {
    int n, *time;
    int64_t **most;
} Base;

static Base base_new(Arena *a, Change *change, int n)
{
    Base b = {.time = arena_array(a, int, n), .most = arena_array(a, int64_t *, 32)};
    int64_t sum = 0;

    if (n)
        qsort(change, (size_t)n, sizeof *change, compare_changes);
    b.most[0] = arena_array(a, int64_t, n);
    for (int i = 0; i < n; i++) {
        sum += change[i].bytes;
        if (i + 1 < n && change[i + 1].time == change[i].time)
            continue;
        b.time[b.n] = change[i].time;
        b.most[0][b.n++] = sum;
    }
    for (int j = 1; 1 << j <= b.n; j++) {
        b.most[j] = arena_array(a, int64_t, b.n);
        for (int i = 0; i + (1 << j) <= b.n; i++) {
            int64_t x = b.most[j - 1][i], y = b.most[j - 1][i + (1 << (j - 1))];
            b.most[j][i] = x > y ? x : y;
        }
    }
    return b;
}

// The largest sum from time `from` to before `to`, both of which are times of the base.
static int64_t base_most(const Base *b, int from, int to)
{
    int i = index_of(b->time, b->n, from), n = index_of(b->time, b->n, to) - i, j = 0;

    while (2 << j <= n)
        j++;
    int64_t x = b->most[j][i], y = b->most[j][i + n - (1 << j)];
    return x > y ? x : y;
}

// ---- dropping ----

static void drop(Residual *r, int node, const NodeBytes *h, const Base *b)
{
    ResidualVertex *x = &r->vertex[node];

    for (int i = 0; i + 1 < h->n_times; i++) {
        int64_t most = base_most(b, h->time[i], h->time[i + 1]) - h->least[i];
        for (int k = 0; k < x->n; k++)
            if (!x->is_out[k] && most + h->bytes[(int64_t)i * x->n + k] > r->p->limit)
                x->is_out[k] = true;
    }
}

static bool is_any_left(const ResidualVertex *x)
{
    for (int k = 0; k < x->n; k++)
        if (!x->is_out[k])
            return true;
    return false;
}

bool residual_drop_full(Residual *r)
{
    int n = r->p->n_nodes, n_changes = 0, cap = 0;
    Arena *a = arena_new();
    MergedNodes *all = merged_find(a, r);
    NodeBytes *h = arena_array(a, NodeBytes, n);
    Change *change = NULL;
    bool ok = true;

    for (int i = 0; i < n; i++) {
        if (r->vertex[i].merged_into >= 0)
            continue;
        for (int m = 0; m < all[i].n; m++)
            merged_trace(a, r, i, all[i].merged[m]);
        h[i] = node_bytes_new(a, r, i, &all[i]);
        for (int t = 0; t < h[i].n_times; t++)
            *arena_push(a, change, n_changes, cap) =
                (Change){h[i].time[t], h[i].least[t] - (t ? h[i].least[t - 1] : 0)};
    }
    Base base = base_new(a, change, n_changes);
    for (int t = 0; t < base.n; t++)
        ok &= base.most[0][t] <= r->p->limit;
    for (int i = 0; i < n && ok; i++)
        if (r->vertex[i].merged_into < 0) {
            drop(r, i, &h[i], &base);
            ok &= is_any_left(&r->vertex[i]);
        }
    arena_free(a);
    return ok;
}
