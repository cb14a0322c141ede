// Random small problems of all kinds, and the result of trying every choice. The tests of the
// solver judge by it. It shares nothing with the solver except the types and the matrix of a
// metric.
#ifndef SHARDCC_TESTS_SOLVER_RANDOM_H
#define SHARDCC_TESTS_SOLVER_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "solver/assign/internal.h"

// ---- random numbers ----

static inline uint64_t next_random(uint64_t *state)  // splitmix64 (Steele, Lea, Flood 2014)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline int below(uint64_t *state, int n) { return (int)(next_random(state) % (uint64_t)n); }

static inline bool chance(uint64_t *state, int percent) { return below(state, 100) < percent; }

#define PICK(state, ...)                                                                           \
    (((const int64_t[]){__VA_ARGS__})[below(state, COUNT(((const int64_t[]){__VA_ARGS__})))])

// ---- problems ----

enum { MAX_RANDOM_NODES = 10, MAX_RANDOM_CHOICES = 1500 };

// The properties that hold throughout one problem.
typedef struct Style {
    enum { FOREST, CYCLE, DENSE, SPARSE, STAR, SEPARATE, SHAPES } shape;
    int forbidden;       // percent of the costs that are forbidden
    int64_t scale;       // unit of the costs
    bool has_negative;   // some costs are negative
    int most_uses;       // most intervals in which an alternative holds bytes
    bool shares_times;   // all alternatives of a node hold bytes at the same times
    int64_t tick, byte;  // units of time and bytes
} Style;

typedef struct Maker {
    uint64_t random;
    Style style;
    Problem p;
    Arena *a;
    int n_live, cap_live, cap_edges;
} Maker;

static inline Style random_style(uint64_t *r)
{
    return (Style){
        .shape = below(r, SHAPES),
        .forbidden = (int)PICK(r, 0, 0, 0, 10, 30),
        .scale = PICK(r, 1, 5, 30, 1000000, 10000000000000000),
        .has_negative = chance(r, 20),
        .most_uses = (int)PICK(r, 0, 1, 1, 1, 3),
        .shares_times = chance(r, 60),
        .tick = PICK(r, 1, 1, 80000000),
        .byte = PICK(r, 1, 1, 7, 1000000007, 100000000000000),
    };
}

static inline int64_t random_cost(Maker *m)
{
    if (chance(&m->random, m->style.forbidden))
        return COST_FORBIDDEN;
    int64_t cost = below(&m->random, 9) * m->style.scale + below(&m->random, 2);
    return m->style.has_negative && chance(&m->random, 40) ? -cost : cost;
}

// Adds up to most_uses intervals, one after the other. Some of them hold no bytes.
static inline void random_uses(Maker *m, uint64_t *times)
{
    int n = m->style.most_uses ? below(&m->random, m->style.most_uses + 1) : 0, time = 0;

    for (int i = 0; i < n; i++) {
        int first = time + below(times, 5), last = first + below(times, 5);
        int64_t bytes = below(&m->random, 6) * m->style.byte;
        time = last;
        if (first < last && bytes)
            *arena_push(m->a, m->p.live, m->n_live, m->cap_live) =
                (LiveBytes){first * (int)m->style.tick, last * (int)m->style.tick, bytes};
    }
}

static inline void random_nodes(Maker *m)
{
    int sizes[MAX_RANDOM_NODES], n = 1 + below(&m->random, MAX_RANDOM_NODES), total = 0;

    for (int i = 0, choices = 1; i < n; i++) {
        sizes[i] = 1 + below(&m->random, 5);
        if (choices * sizes[i] > MAX_RANDOM_CHOICES)
            sizes[i] = 1;
        choices *= sizes[i];
        total += sizes[i];
    }
    m->p.n_nodes = n;
    m->p.first = arena_array(m->a, int, n + 1);
    m->p.cost = arena_array(m->a, int64_t, total);
    m->p.first_live = arena_array(m->a, int, total + 1);
    for (int i = 0; i < n; i++) {
        uint64_t times = next_random(&m->random);
        m->p.first[i + 1] = m->p.first[i] + sizes[i];
        for (int k = m->p.first[i]; k < m->p.first[i + 1]; k++) {
            uint64_t same = times;
            m->p.cost[k] = chance(&m->random, 70) ? random_cost(m) : 0;
            m->p.first_live[k] = m->n_live;
            random_uses(m, m->style.shares_times ? &same : &m->random);
        }
    }
    m->p.first_live[total] = m->n_live;
}

// Makes the cost matrix of a metric over some points. Its steps may leave points unconnected.
static inline const int64_t *random_metric(Maker *m, int n_a, int n_b)
{
    PathStep step[12];
    Metric metric = {1 + below(&m->random, 6), below(&m->random, COUNT(step) + 1), step};
    int of_a[8], of_b[8];

    for (int i = 0; i < metric.n_steps; i++)
        step[i] = (PathStep){below(&m->random, metric.n_points), below(&m->random, metric.n_points),
                             below(&m->random, 9) * m->style.scale};
    for (int k = 0; k < n_a; k++)
        of_a[k] = below(&m->random, metric.n_points);
    for (int l = 0; l < n_b; l++)
        of_b[l] = below(&m->random, metric.n_points);
    return metric_matrix(m->a, &metric, of_a, n_a, of_b, n_b);
}

// Makes a cost matrix of one of six kinds: any costs; mostly zeros; one partner for each
// alternative; a sum of the two ends' own costs; a metric; an earlier edge's matrix.
static inline const int64_t *random_matrix(Maker *m, int n_a, int n_b)
{
    int64_t *cost = arena_array(m->a, int64_t, n_a * n_b), left[8], right[8];
    int kind = below(&m->random, 6), shift = below(&m->random, 8);

    if (kind == 4)
        return random_metric(m, n_a, n_b);
    for (int e = 0; e < m->p.n_edges && kind == 5; e++)
        if (n_alternatives(&m->p, m->p.edge[e].a) == n_a &&
            n_alternatives(&m->p, m->p.edge[e].b) == n_b)
            return m->p.edge[e].cost;
    for (int k = 0; k < 8; k++) {
        left[k] = below(&m->random, 9) * m->style.scale;
        right[k] = below(&m->random, 9) * m->style.scale;
    }
    for (int k = 0; k < n_a; k++)
        for (int l = 0; l < n_b; l++) {
            int64_t *c = &cost[k * n_b + l];
            *c = random_cost(m);
            if (kind == 1 && chance(&m->random, 70))
                *c = 0;
            if (kind == 2 && (k + shift) % n_b != l)
                *c = COST_FORBIDDEN;
            if (kind == 3)
                *c = left[k] + right[l];
        }
    return cost;
}

static inline void random_edge(Maker *m, int x, int y)
{
    int a = chance(&m->random, 50) ? x : y, b = a == x ? y : x;
    const int64_t *cost = random_matrix(m, n_alternatives(&m->p, a), n_alternatives(&m->p, b));

    *arena_push(m->a, m->p.edge, m->p.n_edges, m->cap_edges) = (Edge){a, b, cost};
}

static inline void random_edges(Maker *m)
{
    int n = m->p.n_nodes, percent = m->style.shape == DENSE ? 70 : 25;

    for (int i = 1; i < n; i++) {
        if (m->style.shape == FOREST && chance(&m->random, 90))
            random_edge(m, below(&m->random, i), i);
        if (m->style.shape == CYCLE)
            random_edge(m, i - 1, i);
        if (m->style.shape == STAR)
            random_edge(m, 0, i);
        for (int j = 0; j < i && (m->style.shape == DENSE || m->style.shape == SPARSE); j++)
            if (chance(&m->random, percent))
                random_edge(m, j, i);
    }
    if (m->style.shape == CYCLE && n > 2)
        random_edge(m, n - 1, 0);
    if (chance(&m->random, 10)) {  // a second edge of a pair, or an edge from a node to itself
        int i = below(&m->random, n);
        random_edge(m, i, below(&m->random, n));
    }
}

// ---- every choice ----

typedef struct Best {
    bool is_allowed;                         // some choice uses nothing forbidden
    bool is_feasible;                        // some allowed choice keeps the limit
    Wide cost;                               // the least of the feasible choices
    int64_t least;                           // the lowest peak of the allowed choices
    int64_t most;                            // the highest peak of the allowed choices
    int choice[MAX_RANDOM_NODES + 1];        // of the least cost
    int least_choice[MAX_RANDOM_NODES + 1];  // of the lowest peak
} Best;

typedef struct Trial {
    const Problem *p;
    int choice[MAX_RANDOM_NODES + 1];
    int *time, n_times;  // when bytes come or go, ascending
    int64_t *bytes;
    int *begin, *end;  // of each live range, as indices of `time`
    // Edges by the node that is chosen last: those of node i are edge[first_edge[i]] to
    // edge[first_edge[i + 1] - 1].
    int *first_edge;
    const Edge **edge;
    Best best;
} Trial;

static inline int compare_ints(const void *x, const void *y)
{
    int i = *(const int *)x, j = *(const int *)y;
    return i < j ? -1 : i > j;
}

static inline void hold(Trial *t, int k, int sign)
{
    for (int u = t->p->first_live[k]; u < t->p->first_live[k + 1]; u++)
        for (int i = t->begin[u]; i < t->end[u]; i++)
            t->bytes[i] += sign * t->p->live[u].bytes;
}

static inline void try_whole(Trial *t, Wide cost)
{
    Best *b = &t->best;
    int64_t peak = 0;

    for (int i = 0; i < t->n_times; i++)
        peak = t->bytes[i] > peak ? t->bytes[i] : peak;
    if (!b->is_allowed || peak < b->least) {
        b->least = peak;
        memcpy(b->least_choice, t->choice, sizeof b->choice);
    }
    b->most = peak > b->most ? peak : b->most;
    b->is_allowed = true;
    if (peak > t->p->limit || (b->is_feasible && b->cost <= cost))
        return;
    b->is_feasible = true;
    b->cost = cost;
    memcpy(b->choice, t->choice, sizeof b->choice);
}

// Tries every choice of the nodes from i on.
static inline void try_all(Trial *t, int i, Wide cost)
{
    if (i == t->p->n_nodes) {
        try_whole(t, cost);
        return;
    }
    for (int k = 0; k < n_alternatives(t->p, i); k++) {
        Wide more = t->p->cost[t->p->first[i] + k];
        bool is_allowed = more < COST_FORBIDDEN;
        t->choice[i] = k;
        for (int e = t->first_edge[i]; e < t->first_edge[i + 1]; e++) {
            const Edge *x = t->edge[e];
            int64_t c = x->cost[t->choice[x->a] * n_alternatives(t->p, x->b) + t->choice[x->b]];
            is_allowed = is_allowed && c < COST_FORBIDDEN;
            more += c;
        }
        if (!is_allowed)
            continue;
        hold(t, t->p->first[i] + k, 1);
        try_all(t, i + 1, cost + more);
        hold(t, t->p->first[i] + k, -1);
    }
}

static inline void sort_edges(Arena *a, Trial *t)
{
    const Problem *p = t->p;
    int n = 0;

    t->first_edge = arena_array(a, int, p->n_nodes + 1);
    t->edge = arena_array(a, const Edge *, p->n_edges);
    for (int i = 0; i < p->n_nodes; i++) {
        t->first_edge[i] = n;
        for (int e = 0; e < p->n_edges; e++)
            if ((p->edge[e].a > p->edge[e].b ? p->edge[e].a : p->edge[e].b) == i)
                t->edge[n++] = &p->edge[e];
    }
    t->first_edge[p->n_nodes] = n;
}

static inline int count_times(const Trial *t, int before)
{
    int n = 0;

    while (n < t->n_times && t->time[n] < before)
        n++;
    return n;
}

static inline Best brute_force(const Problem *p)
{
    Arena *a = arena_new();
    Trial t = {p};
    int n = p->first_live[p->first[p->n_nodes]], kept = 0;

    t.time = arena_array(a, int, 2 * n);
    t.bytes = arena_array(a, int64_t, 2 * n);
    for (int u = 0; u < n; u++) {
        t.time[2 * u] = p->live[u].first;
        t.time[2 * u + 1] = p->live[u].last;
    }
    qsort(t.time, (size_t)(2 * n), sizeof *t.time, compare_ints);
    for (int i = 0; i < 2 * n; i++)
        if (!kept || t.time[i] != t.time[kept - 1])
            t.time[kept++] = t.time[i];
    t.n_times = kept;
    t.begin = arena_array(a, int, n);
    t.end = arena_array(a, int, n);
    for (int u = 0; u < n; u++) {
        t.begin[u] = count_times(&t, p->live[u].first);
        t.end[u] = count_times(&t, p->live[u].last);
    }
    sort_edges(a, &t);
    try_all(&t, 0, 0);
    arena_free(a);
    return t.best;
}

// ---- duals ----

// Draws messages and prices of up to `bits` bits.
static inline Dual random_dual(Arena *a, const Problem *p, uint64_t *r, int bits)
{
    Dual d = {.shift = below(r, 41)};
    int n = 0, times = below(r, 15);

    for (int e = 0; e < p->n_edges; e++)
        n += n_alternatives(p, p->edge[e].a) + n_alternatives(p, p->edge[e].b);
    d.message = arena_array(a, int64_t, n);
    d.time = arena_array(a, int, times);
    d.price = arena_array(a, int64_t, times);
    for (int i = 0; i < n; i++)
        d.message[i] = (int64_t)next_random(r) >> (64 - 1 - below(r, bits));
    for (int t = 0, time = 0; t < times; t++) {
        time += 1 + below(r, 3) * (chance(r, 20) ? 80000000 : 1);
        d.time[t] = time;
        d.price[t] = 1 + (int64_t)(next_random(r) >> (64 - 1 - below(r, bits)));
    }
    d.n_times = times;
    return d;
}

// Does alternative k of edge e's end a (or b, if is_b) have a partner that isn't forbidden?
static inline bool has_partner(const Problem *p, int e, bool is_b, int k)
{
    const Edge *d = &p->edge[e];

    for (int l = 0; l < n_alternatives(p, is_b ? d->a : d->b); l++)
        if (!is_forbidden(p->cost[p->first[is_b ? d->a : d->b] + l]) &&
            !is_forbidden(edge_cost(p, d, is_b ? l : k, is_b ? k : l)))
            return true;
    return false;
}

// The problem, in which every alternative without a partner is forbidden, and all pairs of
// forbidden alternatives.
static inline Problem consistent(Arena *a, const Problem *p)
{
    Problem q = *p;
    bool changed = true;

    q.cost = arena_array(a, int64_t, p->first[p->n_nodes]);
    memcpy(q.cost, p->cost, (size_t)p->first[p->n_nodes] * sizeof *q.cost);
    while (changed) {
        changed = false;
        for (int e = 0; e < p->n_edges; e++)
            for (int s = 0; s < 2; s++) {
                int node = s ? p->edge[e].b : p->edge[e].a;
                for (int k = 0; k < n_alternatives(p, node); k++)
                    if (!is_forbidden(q.cost[p->first[node] + k]) && !has_partner(&q, e, s, k)) {
                        q.cost[p->first[node] + k] = COST_FORBIDDEN;
                        changed = true;
                    }
            }
    }
    q.edge = arena_array(a, Edge, p->n_edges);
    for (int e = 0; e < p->n_edges; e++) {
        int n = n_alternatives(p, p->edge[e].a), m = n_alternatives(p, p->edge[e].b);
        int64_t *cost = arena_array(a, int64_t, n * m);
        for (int i = 0; i < n * m; i++) {
            bool is_out = is_forbidden(q.cost[p->first[p->edge[e].a] + i / m]) ||
                          is_forbidden(q.cost[p->first[p->edge[e].b] + i % m]);
            cost[i] = is_out ? COST_FORBIDDEN : p->edge[e].cost[i];
        }
        q.edge[e] = (Edge){p->edge[e].a, p->edge[e].b, cost};
    }
    return q;
}

// Copies the messages of edge e's alternatives that aren't forbidden: from `left` to `all` if
// is_in, else from `all` to `left`. Both pointers advance. Returns how many are copied.
static inline int messages_move(const Problem *q, int e, int64_t **all, int64_t **left, bool is_in)
{
    int n = 0;

    for (int s = 0; s < 2; s++) {
        int node = s ? q->edge[e].b : q->edge[e].a;
        for (int k = q->first[node]; k < q->first[node + 1]; k++, ++*all)
            if (!is_forbidden(q->cost[k])) {
                if (is_in)
                    **all = **left;
                else
                    **left = **all;
                ++*left;
                n++;
            }
    }
    return n;
}

// The bound that a round without steps proves.
static inline Wide round_bound(Arena *a, const Problem *p, const Round *r)
{
    Problem q = consistent(a, p);
    Dual full = r->dual;
    int n = 0;

    for (int e = 0; e < p->n_edges; e++)
        n += edge_messages(p, e);
    int64_t *all = full.message = arena_array(a, int64_t, n), *left = r->dual.message;
    for (int e = 0; e < p->n_edges; e++)
        messages_move(&q, e, &all, &left, true);
    return dual_bound(&q, &full);
}

// Draws a certificate of one round without steps.
static inline Certificate random_certificate(Arena *a, const Problem *p, uint64_t *r, int bits)
{
    Certificate c = {1, arena_array(a, Round, 1), 0};
    Problem q = consistent(a, p);

    *c.round = (Round){.n_edges = p->n_edges, .edge = arena_array(a, Ends, p->n_edges)};
    c.round->dual = random_dual(a, p, r, bits);
    int64_t *all = c.round->dual.message, *left = all;
    for (int e = 0; e < p->n_edges; e++)
        c.round->edge[e] =
            (Ends){p->edge[e].a, p->edge[e].b, messages_move(&q, e, &all, &left, false)};
    c.bound = round_bound(a, p, c.round);
    return c;
}

// ---- the whole ----

// Draws a problem as a file might hold it, in which several edges may join the same nodes.
static inline Problem random_unjoined(Arena *a, uint64_t seed)
{
    Maker m = {.random = seed * 0x2545f4914f6cdd1d + 1, .a = a};

    m.style = random_style(&m.random);
    random_nodes(&m);
    random_edges(&m);
    m.p.limit = INT64_MAX;
    Best b = brute_force(&m.p);
    // The limit ranges from one that no choice can keep to one that no choice exceeds.
    int percent = (int)PICK(&m.random, -3, -1, 0, 0, 10, 30, 50, 80, 100, 130);
    m.p.limit = b.least + (percent < 0 ? percent : (b.most - b.least) * percent / 100);
    if (m.p.limit < 0 || chance(&m.random, 3))
        m.p.limit = 0;
    return m.p;
}

// Draws a problem whose edges are joined. Sums of its costs stay below 10^18, so joining can't
// fail.
static inline Problem random_problem(Arena *a, uint64_t seed)
{
    Problem p = random_unjoined(a, seed);

    if (!problem_join_edges(a, &p, NULL))
        abort();
    return p;
}

#endif
