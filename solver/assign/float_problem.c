// Makes the floating-point form of a problem for bounds and searches: costs in doubles or floats,
// the edges of each node, and only those times that can be the fullest.
#include <stdlib.h>
#include <string.h>

#include "solver/assign/internal.h"

// ---- costs ----

typedef struct Range {
    int64_t low, high;  // of the allowed costs; low > high: there are none
} Range;

static Range range_of(const int64_t *cost, int64_t n)
{
    Range r;

    row_range(cost, n, &r.low, &r.high);
    return r;
}

// The width of a range, extended to include 0, so that forbidden costs lie above all others.
static double width(Range r)
{
    double low = r.low < 0 ? (double)r.low : 0, high = r.high > 0 ? (double)r.high : 0;

    return r.low > r.high ? 0 : high - low;
}

static int by_matrix(const void *a, const void *b)
{
    const Edge *x = *(const Edge *const *)a, *y = *(const Edge *const *)b;
    uintptr_t p = (uintptr_t)x->cost, q = (uintptr_t)y->cost;

    return p != q ? (p < q ? -1 : 1) : x < y ? -1 : x > y;
}

// The cost of what is forbidden: above the most that choices can differ by, as far as doubles have
// limit for both. It is a power of two, so that adding and subtracting it leaves whole numbers
// exact.
static double penalty(const Problem *p)
{
    double most = 1, sum = 1, power = 1;

    for (int i = 0; i < p->n_nodes; i++) {
        Range r = range_of(p->cost + p->first[i], n_alternatives(p, i));
        sum += width(r);
        most = width(r) > most ? width(r) : most;
    }
    for (int e = 0; e < p->n_edges; e++) {
        bool is_new = !e || p->edge[e].cost != p->edge[e - 1].cost;
        Range r = is_new ? range_of(p->edge[e].cost, edge_pairs(p, e)) : (Range){0};
        sum += width(r);
        most = width(r) > most ? width(r) : most;
    }
    double least = 4 * most, limit = 0x1p48;
    while (power < 4 * sum && (power < least || power < limit))
        power *= 2;
    return power;
}

static double *matrix_image(Arena *a, const FloatProblem *f, int e)
{
    const Edge *x = &f->p->edge[e];
    int n = n_alternatives(f->p, x->a), m = n_alternatives(f->p, x->b);
    double *to = arena_array(a, double, edge_pairs(f->p, e));

    for (int k = 0; k < n; k++)
        row_image(x->cost + (int64_t)k * m, m, f->forbidden, to + (int64_t)k * m);
    return to;
}

static float *rough_matrix(Arena *a, const FloatProblem *f, int e)
{
    const Edge *x = &f->p->edge[e];
    int n = n_alternatives(f->p, x->a), m = n_alternatives(f->p, x->b);
    float *to = arena_array(a, float, edge_pairs(f->p, e));

    for (int k = 0; k < n; k++)
        row_rough(x->cost + (int64_t)k * m, m, f->forbidden, to + (int64_t)k * m);
    return to;
}

// Converts the matrices. Edges that share a matrix share the result too.
static void copy_matrices(Arena *a, FloatProblem *f, bool is_rough)
{
    const Problem *p = f->p;
    const Edge **order = arena_array(a, const Edge *, p->n_edges);

    if (is_rough)
        f->rough = arena_array(a, float *, p->n_edges);
    else
        f->matrix = arena_array(a, double *, p->n_edges);
    for (int e = 0; e < p->n_edges; e++)
        order[e] = &p->edge[e];
    if (p->n_edges)
        qsort(order, (size_t)p->n_edges, sizeof *order, by_matrix);
    for (int j = 0; j < p->n_edges; j++) {
        bool is_new = !j || order[j]->cost != order[j - 1]->cost;
        int e = (int)(order[j] - p->edge), before = is_new ? -1 : (int)(order[j - 1] - p->edge);
        if (is_rough)
            f->rough[e] = is_new ? rough_matrix(a, f, e) : f->rough[before];
        else
            f->matrix[e] = is_new ? matrix_image(a, f, e) : f->matrix[before];
    }
}

static void copy_costs(Arena *a, FloatProblem *f, bool is_rough)
{
    const Problem *p = f->p;
    int n = p->first[p->n_nodes];

    f->forbidden = penalty(p);
    f->cost = arena_array(a, double, n);
    row_image(p->cost, n, f->forbidden, f->cost);
    copy_matrices(a, f, is_rough);
}

// ---- edges ----

static void half_edges_find(Arena *a, FloatProblem *f)
{
    const Problem *p = f->p;
    int *next = arena_array(a, int, p->n_nodes + 1);

    f->first_half_edge = arena_array(a, int, p->n_nodes + 1);
    f->half_edge = arena_array(a, HalfEdge, 2 * (int64_t)p->n_edges);
    for (int e = 0; e < p->n_edges; e++) {
        next[p->edge[e].a + 1]++;
        next[p->edge[e].b + 1]++;
    }
    for (int i = 0; i < p->n_nodes; i++)
        f->first_half_edge[i + 1] = next[i + 1] += next[i];
    for (int e = 0; e < p->n_edges; e++) {
        Edge d = p->edge[e];
        f->half_edge[next[d.a]++] = (HalfEdge){.edge = e, .other = d.b, .is_a = true};
        f->half_edge[next[d.b]++] = (HalfEdge){.edge = e, .other = d.a};
    }
}

// ---- times ----

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

// Sorts times and removes duplicates. Returns how many remain.
static int sort_times(int *time, int n)
{
    int kept = 0;

    if (n)
        qsort(time, (size_t)n, sizeof *time, by_value);
    for (int i = 0; i < n; i++)
        if (!kept || time[i] != time[kept - 1])
            time[kept++] = time[i];
    return kept;
}

// Keeps the starts that can be the fullest time. If no end lies between two starts, the later one
// holds at least as much.
static void keep_fullest(FloatProblem *f, const int *start, int n_starts, const int *end,
                         int n_ends)
{
    int e = 0;

    for (int s = 0; s < n_starts; s++) {
        while (e < n_ends && end[e] <= start[s])
            e++;
        bool is_last = s + 1 == n_starts;
        if (is_last || (e < n_ends && end[e] <= start[s + 1]))
            f->slot_time[f->n_slots++] = start[s];
    }
}

// The first slot whose time is at least t.
static int slot_from(const FloatProblem *f, int t)
{
    int low = 0, high = f->n_slots;

    while (low < high) {
        int mid = low + (high - low) / 2;
        if (f->slot_time[mid] < t)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void find_slots(Arena *a, FloatProblem *f)
{
    const Problem *p = f->p;
    int n = p->first_live[p->first[p->n_nodes]], n_times = 0;
    int *start = arena_array(a, int, n), *end = arena_array(a, int, n);

    for (int u = 0; u < n; u++) {
        if (u && p->live[u].first == p->live[u - 1].first && p->live[u].last == p->live[u - 1].last)
            continue;
        start[n_times] = p->live[u].first;
        end[n_times++] = p->live[u].last;
    }
    int n_starts = sort_times(start, n_times), n_ends = sort_times(end, n_times);
    f->slot_time = arena_array(a, int, n_starts);
    keep_fullest(f, start, n_starts, end, n_ends);
}

static void copy_live(Arena *a, FloatProblem *f)
{
    const Problem *p = f->p;
    int n = p->first[p->n_nodes], n_live = 0;

    f->first_live = arena_array(a, int, n + 1);
    f->live = arena_array(a, LiveBytes, p->first_live[n]);
    for (int k = 0; k < n; k++) {
        f->first_live[k] = n_live;
        for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++) {
            LiveBytes now = {slot_from(f, p->live[u].first), slot_from(f, p->live[u].last),
                             p->live[u].bytes};
            LiveBytes *last = n_live > f->first_live[k] ? &f->live[n_live - 1] : NULL;
            if (last && last->last == now.first && last->bytes == now.bytes)
                last->last = now.last;
            else if (now.first < now.last)
                f->live[n_live++] = now;
        }
    }
    f->first_live[n] = n_live;
}

enum { MIN_ROUGH_PAIRS = 250000 };  // this many pairs in doubles fill a cache of 2 MiB

static FloatProblem *make(Arena *a, const Problem *p, bool is_rough)
{
    FloatProblem *f = arena_array(a, FloatProblem, 1);

    f->p = p;
    for (int i = 0; i < p->n_nodes; i++)
        f->max_alternatives =
            n_alternatives(p, i) > f->max_alternatives ? n_alternatives(p, i) : f->max_alternatives;
    copy_costs(a, f, is_rough);
    half_edges_find(a, f);
    find_slots(a, f);
    copy_live(a, f);
    return f;
}

FloatProblem *float_problem_new(Arena *a, const Problem *p) { return make(a, p, false); }

FloatProblem *float_problem_new_rough(Arena *a, const Problem *p)
{
    return make(a, p, problem_pairs(p) > MIN_ROUGH_PAIRS);
}

int float_problem_slot(const FloatProblem *f, int time)
{
    int t = slot_from(f, time);

    return t < f->n_slots && f->slot_time[t] == time ? t : t - 1;
}

void float_problem_byte_costs(const FloatProblem *f, const double *price, double *sum,
                              double *byte_cost)
{
    int n = f->p->first[f->p->n_nodes];

    sum[0] = 0;
    for (int s = 0; s < f->n_slots; s++)
        sum[s + 1] = sum[s] + price[s];
    for (int k = 0; k < n; k++) {
        byte_cost[k] = 0;
        for (int u = f->first_live[k]; u < f->first_live[k + 1]; u++)
            byte_cost[k] +=
                (double)f->live[u].bytes * (sum[f->live[u].last] - sum[f->live[u].first]);
    }
}

void float_problem_live_bytes(const FloatProblem *f, const int *choice, double *live_bytes)
{
    memset(live_bytes, 0, (size_t)f->n_slots * sizeof *live_bytes);
    for (int i = 0; i < f->p->n_nodes; i++) {
        int k = f->p->first[i] + choice[i];
        for (int u = f->first_live[k]; u < f->first_live[k + 1]; u++) {
            live_bytes[f->live[u].first] += (double)f->live[u].bytes;
            if (f->live[u].last < f->n_slots)
                live_bytes[f->live[u].last] -= (double)f->live[u].bytes;
        }
    }
    for (int t = 1; t < f->n_slots; t++)
        live_bytes[t] += live_bytes[t - 1];
}

void float_problem_add_row(const FloatProblem *f, int node, HalfEdge l, int other, double sign,
                           double *to)
{
    int n = n_alternatives(f->p, node), n_other = n_alternatives(f->p, l.other);
    int64_t first = l.is_a ? other : (int64_t)other * n;
    int stride = l.is_a ? n_other : 1;

    for (int k = 0; k < n && f->rough; k++)
        to[k] += sign * (double)f->rough[l.edge][first + (int64_t)k * stride];
    for (int k = 0; k < n && !f->rough; k++)
        to[k] += sign * f->matrix[l.edge][first + (int64_t)k * stride];
}

void float_problem_pass(const FloatProblem *f, int node, HalfEdge l, const double *from, double *to)
{
    int n = n_alternatives(f->p, node), n_other = n_alternatives(f->p, l.other);

    if (f->rough && l.is_a)
        minplus_down_rough(f->rough[l.edge], n, n_other, from, to);
    else if (f->rough)
        minplus_across_rough(f->rough[l.edge], n_other, n, from, to);
    else if (l.is_a)
        minplus_down(f->matrix[l.edge], n, n_other, from, to);
    else
        minplus_across(f->matrix[l.edge], n_other, n, from, to);
}
