// The image of a problem on which bounds and searches work: costs in doubles, the edges of each
// node, times down to those that can be the fullest.
#include <stdlib.h>
#include <string.h>

#include "solver/internal.h"

// ---- costs ----

typedef struct Range {
    int64_t low, high;  // of the costs that aren't forbidden; low > high: none
} Range;

static Range range_of(const int64_t *cost, int64_t n)
{
    Range r;

    row_range(cost, n, &r.low, &r.high);
    return r;
}

// 0 is in it too: forbidden costs are above all others.
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

// A power of two, so that adding and taking it away leaves whole numbers as they were: above what
// choices can differ by, as far as doubles have room for both.
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
    double least = 4 * most, room = 0x1p48;
    while (power < 4 * sum && (power < least || power < room))
        power *= 2;
    return power;
}

static double *matrix_image(const Field *f, int e, Arena *a)
{
    const Edge *x = &f->p->edge[e];
    int n = n_alternatives(f->p, x->a), m = n_alternatives(f->p, x->b);
    double *to = arena_array(a, double, edge_pairs(f->p, e));

    for (int k = 0; k < n; k++)
        row_image(x->cost + (int64_t)k * m, m, f->forbidden, to + (int64_t)k * m);
    return to;
}

static float *rough_matrix(const Field *f, int e, Arena *a)
{
    const Edge *x = &f->p->edge[e];
    int n = n_alternatives(f->p, x->a), m = n_alternatives(f->p, x->b);
    float *to = arena_array(a, float, edge_pairs(f->p, e));

    for (int k = 0; k < n; k++)
        row_rough(x->cost + (int64_t)k * m, m, f->forbidden, to + (int64_t)k * m);
    return to;
}

// The edges that share a matrix share its image too.
static void copy_matrices(Field *f, bool is_rough, Arena *a)
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
            f->rough[e] = is_new ? rough_matrix(f, e, a) : f->rough[before];
        else
            f->matrix[e] = is_new ? matrix_image(f, e, a) : f->matrix[before];
    }
}

static void copy_costs(Field *f, bool is_rough, Arena *a)
{
    const Problem *p = f->p;
    int n = p->first[p->n_nodes];

    f->forbidden = penalty(p);
    f->cost = arena_array(a, double, n);
    row_image(p->cost, n, f->forbidden, f->cost);
    copy_matrices(f, is_rough, a);
}

// ---- edges ----

static void link_nodes(Field *f, Arena *a)
{
    const Problem *p = f->p;
    int *next = arena_array(a, int, p->n_nodes + 1);

    f->first_link = arena_array(a, int, p->n_nodes + 1);
    f->link = arena_array(a, Link, 2 * (int64_t)p->n_edges);
    for (int e = 0; e < p->n_edges; e++) {
        next[p->edge[e].a + 1]++;
        next[p->edge[e].b + 1]++;
    }
    for (int i = 0; i < p->n_nodes; i++)
        f->first_link[i + 1] = next[i + 1] += next[i];
    for (int e = 0; e < p->n_edges; e++) {
        Edge d = p->edge[e];
        f->link[next[d.a]++] = (Link){.edge = e, .other = d.b, .is_a = true};
        f->link[next[d.b]++] = (Link){.edge = e, .other = d.a};
    }
}

// ---- times ----

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

// Sorts them, and leaves one of each; how many there are.
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

// Between two starts without an end between them, the later time holds no less.
static void keep_fullest(Field *f, const int *start, int n_starts, const int *end, int n_ends)
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

// The first slot whose time isn't before t.
static int slot_from(const Field *f, int t)
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

static void find_slots(Field *f, Arena *a)
{
    const Problem *p = f->p;
    int n = p->first_use[p->first[p->n_nodes]], n_times = 0;
    int *start = arena_array(a, int, n), *end = arena_array(a, int, n);

    for (int u = 0; u < n; u++) {
        if (u && p->use[u].first == p->use[u - 1].first && p->use[u].last == p->use[u - 1].last)
            continue;
        start[n_times] = p->use[u].first;
        end[n_times++] = p->use[u].last;
    }
    int n_starts = sort_times(start, n_times), n_ends = sort_times(end, n_times);
    f->slot_time = arena_array(a, int, n_starts);
    keep_fullest(f, start, n_starts, end, n_ends);
}

static void copy_uses(Field *f, Arena *a)
{
    const Problem *p = f->p;
    int n = p->first[p->n_nodes], n_uses = 0;

    f->first_use = arena_array(a, int, n + 1);
    f->use = arena_array(a, Use, p->first_use[n]);
    for (int k = 0; k < n; k++) {
        f->first_use[k] = n_uses;
        for (int u = p->first_use[k]; u < p->first_use[k + 1]; u++) {
            Use now = {slot_from(f, p->use[u].first), slot_from(f, p->use[u].last),
                       p->use[u].bytes};
            Use *last = n_uses > f->first_use[k] ? &f->use[n_uses - 1] : NULL;
            if (last && last->last == now.first && last->bytes == now.bytes)
                last->last = now.last;
            else if (now.first < now.last)
                f->use[n_uses++] = now;
        }
    }
    f->first_use[n] = n_uses;
}

enum { ROUGH_PAIRS = 250000 };  // of doubles they fill a cache of 2 MiB

static Field *make(const Problem *p, bool is_rough, Arena *a)
{
    Field *f = arena_array(a, Field, 1);

    f->p = p;
    for (int i = 0; i < p->n_nodes; i++)
        f->widest = n_alternatives(p, i) > f->widest ? n_alternatives(p, i) : f->widest;
    copy_costs(f, is_rough, a);
    link_nodes(f, a);
    find_slots(f, a);
    copy_uses(f, a);
    return f;
}

Field *field_new(const Problem *p, Arena *a) { return make(p, false, a); }

Field *field_new_rough(const Problem *p, Arena *a)
{
    return make(p, problem_pairs(p) > ROUGH_PAIRS, a);
}

int field_slot(const Field *f, int time)
{
    int t = slot_from(f, time);

    return t < f->n_slots && f->slot_time[t] == time ? t : t - 1;
}

void field_rent(const Field *f, const double *price, double *sum, double *rent)
{
    int n = f->p->first[f->p->n_nodes];

    sum[0] = 0;
    for (int s = 0; s < f->n_slots; s++)
        sum[s + 1] = sum[s] + price[s];
    for (int k = 0; k < n; k++) {
        rent[k] = 0;
        for (int u = f->first_use[k]; u < f->first_use[k + 1]; u++)
            rent[k] += (double)f->use[u].bytes * (sum[f->use[u].last] - sum[f->use[u].first]);
    }
}

void field_held(const Field *f, const int *choice, double *held)
{
    memset(held, 0, (size_t)f->n_slots * sizeof *held);
    for (int i = 0; i < f->p->n_nodes; i++) {
        int k = f->p->first[i] + choice[i];
        for (int u = f->first_use[k]; u < f->first_use[k + 1]; u++) {
            held[f->use[u].first] += (double)f->use[u].bytes;
            if (f->use[u].last < f->n_slots)
                held[f->use[u].last] -= (double)f->use[u].bytes;
        }
    }
    for (int t = 1; t < f->n_slots; t++)
        held[t] += held[t - 1];
}

void field_add_row(const Field *f, int node, Link l, int other, double sign, double *to)
{
    int n = n_alternatives(f->p, node), n_other = n_alternatives(f->p, l.other);
    int64_t first = l.is_a ? other : (int64_t)other * n;
    int stride = l.is_a ? n_other : 1;

    for (int k = 0; k < n && f->rough; k++)
        to[k] += sign * (double)f->rough[l.edge][first + (int64_t)k * stride];
    for (int k = 0; k < n && !f->rough; k++)
        to[k] += sign * f->matrix[l.edge][first + (int64_t)k * stride];
}

void field_pass(const Field *f, int node, Link l, const double *from, double *to)
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
