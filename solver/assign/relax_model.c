// Writes a problem as a linear program, and reads the program's duals as the problem's.
#include "solver/assign/relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lines_alloc(Arena *a, Lines *l, int n, int entries, bool is_columns)
{
    l->low = arena_array(a, double, n);
    l->high = arena_array(a, double, n);
    l->first = arena_array(a, int, n + 1);
    l->index = arena_array(a, int, entries);
    l->value = arena_array(a, double, entries);
    if (is_columns) {
        l->cost = arena_array(a, double, n);
        l->is_whole = arena_array(a, char, n);
    }
}

static double of_unit(const Model *m, int64_t x) { return ldexp((double)x, -m->from.shift); }

// The cost of a pair of an edge with the messages to its ends.
static double pair_cost(const Model *m, int e, const int64_t *message, int k, int l)
{
    const Edge *edge = &m->p->edge[e];
    double cost = (double)edge_cost(m->p, edge, k, l);

    if (message)
        cost += of_unit(m, message[k] + message[n_alternatives(m->p, edge->a) + l]);
    return cost;
}

// The messages of edge e; NULL if the dual has none. They lie in the order of the edges.
static const int64_t *message_of(const Model *m, int e)
{
    return m->from.message ? m->from.message + (m->first_row[e] - m->p->n_nodes) : NULL;
}

// Takes the least term off an edge, and subtracts its messages from its ends' costs.
static void edge_level(Model *m, int e)
{
    const Problem *p = m->p;
    const Edge *edge = &p->edge[e];
    int ka = n_alternatives(p, edge->a), kb = n_alternatives(p, edge->b);
    const int64_t *message = message_of(m, e);
    double least = INFINITY, most = 0;

    for (int k = 0; k < ka; k++)
        for (int l = 0; l < kb; l++)
            if (!is_forbidden(edge_cost(p, edge, k, l))) {
                double cost = pair_cost(m, e, message, k, l);
                least = fmin(least, cost);
                most = fmax(most, cost);
            }
    m->least[e] = least < INFINITY ? least : 0;
    m->most = fmax(m->most, most - m->least[e]);
    m->base += m->least[e];
    for (int k = 0; k < ka && message; k++)
        m->cost[p->first[edge->a] + k] -= of_unit(m, message[k]);
    for (int l = 0; l < kb && message; l++)
        m->cost[p->first[edge->b] + l] -= of_unit(m, message[ka + l]);
}

static void node_level(Model *m, int node)
{
    const Problem *p = m->p;
    double least = INFINITY;

    for (int k = p->first[node]; k < p->first[node + 1]; k++) {
        m->cost[k] += (double)p->cost[k];
        if (!is_forbidden(p->cost[k]))
            least = fmin(least, m->cost[k]);
    }
    least = least < INFINITY ? least : 0;
    m->base += least;
    for (int k = p->first[node]; k < p->first[node + 1]; k++) {
        m->cost[k] -= least;
        if (!is_forbidden(p->cost[k]))
            m->most = fmax(m->most, m->cost[k]);
    }
}

static void costs_level(Model *m)
{
    const Problem *p = m->p;
    Arena *a = arena_new();
    double *sum = arena_array(a, double, m->floats->n_slots + 1);

    m->cost = arena_array(m->arena, double, p->first[p->n_nodes]);
    m->least = arena_array(m->arena, double, p->n_edges);
    m->price = arena_array(m->arena, double, m->floats->n_slots);
    for (int t = 0; t < m->from.n_times; t++) {
        int slot = float_problem_slot(m->floats, m->from.time[t]);
        if (slot >= 0)
            m->price[slot] += of_unit(m, m->from.price[t]);
    }
    float_problem_byte_costs(m->floats, m->price, sum, m->cost);
    for (int s = 0; s < m->floats->n_slots; s++)
        m->base -= m->price[s] * (double)p->limit;
    for (int e = 0; e < p->n_edges; e++)
        edge_level(m, e);
    for (int i = 0; i < p->n_nodes; i++)
        node_level(m, i);
    m->cost_unit = fmax(1, m->most / 1e6);
    m->byte_unit = fmax(1, (double)p->limit / 1e5);
    arena_free(a);
}

// Sends all rows except those of times. The columns will fill them.
static void rows_send(Model *m)
{
    const Problem *p = m->p;
    Arena *a = arena_new();
    Lines l = {0};
    int n;

    n = m->first_memory;
    lines_alloc(a, &l, n, 0, false);
    l.n = n;
    for (int i = 0; i < p->n_nodes; i++)
        l.low[i] = l.high[i] = 1;
    engine_rows(m->engine, &l);
    arena_free(a);
}

static void entry_put(Lines *l, int *n, int row, double value)
{
    l->index[*n] = row;
    l->value[(*n)++] = value;
}

// Sends a column for each alternative.
static void nodes_send(Model *m)
{
    const Problem *p = m->p;
    int n_all = p->first[p->n_nodes], n = 0, *degree;
    Arena *a = arena_new();
    Lines l = {0};

    degree = arena_array(a, int, p->n_nodes);
    for (int e = 0; e < p->n_edges; e++)
        for (int s = 0; s < 2; s++)
            degree[s ? p->edge[e].b : p->edge[e].a]++;
    for (int i = 0; i < p->n_nodes; i++)
        n += n_alternatives(p, i) * (1 + degree[i]);
    lines_alloc(a, &l, n_all, n, true);
    n = 0;
    for (int i = 0; i < p->n_nodes; i++)
        for (int k = p->first[i]; k < p->first[i + 1]; k++) {
            l.first[k] = n;
            l.high[k] = is_forbidden(p->cost[k]) ? 0 : MIP_FREE;
            l.cost[k] = is_forbidden(p->cost[k]) ? 0 : m->cost[k] / m->cost_unit;
            l.is_whole[k] = 1;
            entry_put(&l, &n, i, 1);
            for (int j = m->floats->first_half_edge[i]; j < m->floats->first_half_edge[i + 1];
                 j++) {
                HalfEdge half_edge = m->floats->half_edge[j];
                int row = m->first_row[half_edge.edge] + k - p->first[i];
                if (!half_edge.is_a)
                    row += n_alternatives(p, half_edge.other);
                entry_put(&l, &n, row, -1);
            }
        }
    l.first[n_all] = n;
    l.n = n_all;
    engine_columns(m->engine, &l);
    m->n_columns = m->pairs = n_all;
    arena_free(a);
}

static void pairs_send(Model *m)
{
    const Problem *p = m->p;
    int n_all = 0;
    Arena *a = arena_new();
    Lines l = {0};

    for (int e = 0; e < p->n_edges; e++)
        n_all += (int)edge_pairs(p, e);  // callers allow at most MAX_RELAX_PAIRS
    lines_alloc(a, &l, n_all, 2 * n_all, true);
    int entries = 0;
    for (int e = 0; e < p->n_edges; e++) {
        int ka = n_alternatives(p, p->edge[e].a), kb = n_alternatives(p, p->edge[e].b);
        for (int k = 0; k < ka; k++)
            for (int b = 0; b < kb; b++) {
                if (is_forbidden(edge_cost(p, &p->edge[e], k, b)))
                    continue;
                double cost = pair_cost(m, e, message_of(m, e), k, b) - m->least[e];
                l.cost[l.n] = cost / m->cost_unit;
                l.high[l.n] = MIP_FREE;
                entry_put(&l, &entries, m->first_row[e] + k, 1);
                entry_put(&l, &entries, m->first_row[e] + ka + b, 1);
                l.first[++l.n] = entries;
            }
    }
    engine_columns(m->engine, &l);
    m->n_columns += l.n;
    arena_free(a);
}

// Sends slack columns for the last n rows: a byte that is left below the limit costs its price.
static void slack_columns_send(Model *m, const int *slot, int n)
{
    Arena *a = arena_new();
    Lines l = {0};
    int entries = 0;

    lines_alloc(a, &l, n, n, true);
    for (int i = 0; i < n; i++) {
        l.cost[i] = m->price[slot[i]] * m->byte_unit / m->cost_unit;
        l.high[i] = MIP_FREE;
        entry_put(&l, &entries, m->first_memory + m->n_memory - n + i, 1);
        l.first[++l.n] = entries;
    }
    engine_columns(m->engine, &l);
    m->n_columns += n;
    arena_free(a);
}

static void memory_send(Model *m, const int *slot, int n)
{
    const Problem *p = m->p;
    const FloatProblem *f = m->floats;
    Arena *a = arena_new();
    Lines l = {.n = n};
    int entries = 0, cap = 0;
    double *value = NULL;
    int cap_value = 0;

    lines_alloc(a, &l, n, 0, false);
    for (int i = 0; i < n; i++) {
        double limit = (double)p->limit;
        for (int node = 0; node < p->n_nodes; node++)
            for (int k = p->first[node]; k < p->first[node + 1]; k++)
                for (int u = f->first_live[k]; u < f->first_live[k + 1]; u++) {
                    if (f->live[u].first > slot[i] || f->live[u].last <= slot[i])
                        continue;
                    if (n_alternatives(p, node) == 1) {
                        limit -= (double)f->live[u].bytes;
                        continue;
                    }
                    int at = entries;
                    *arena_push(a, l.index, at, cap) = k;
                    *arena_push(a, value, entries, cap_value) =
                        (double)f->live[u].bytes / m->byte_unit;
                }
        l.first[i + 1] = entries;
        l.low[i] = l.high[i] = limit / m->byte_unit;
        m->has_memory[slot[i]] = true;
        *arena_push(m->arena, m->memory, m->n_memory, m->cap_memory) = slot[i];
    }
    l.value = value;
    engine_rows(m->engine, &l);
    slack_columns_send(m, slot, n);
    arena_free(a);
}

// Sends a row for each time that has a price.
static void prices_send(Model *m)
{
    Arena *a = arena_new();
    int *slot = arena_array(a, int, m->floats->n_slots), n = 0;

    for (int s = 0; s < m->floats->n_slots; s++)
        if (m->price[s] > 0)
            slot[n++] = s;
    if (n)
        memory_send(m, slot, n);
    arena_free(a);
}

Model *model_new(Arena *a, const Problem *p, Engine *e, const Dual *from)
{
    Model *m = arena_array(a, Model, 1);
    int n = p->n_nodes;

    *m = (Model){.p = p, .engine = e, .arena = a, .floats = float_problem_new(a, p), .from = *from};
    m->has_memory = arena_array(a, bool, m->floats->n_slots);
    m->first_row = arena_array(a, int, p->n_edges + 1);
    for (int i = 0; i < p->n_edges; i++) {
        m->first_row[i] = n;
        n += edge_messages(p, i);
    }
    m->first_row[p->n_edges] = m->first_memory = n;
    costs_level(m);
    rows_send(m);
    nodes_send(m);
    pairs_send(m);
    prices_send(m);
    return m;
}

// The bytes by which x exceeds the limit, by slot.
static double *excess_find(Arena *a, const Model *m, const double *x)
{
    const FloatProblem *f = m->floats;
    double *over = arena_array(a, double, f->n_slots + 1);

    for (int k = 0; k < m->pairs; k++)
        for (int u = f->first_live[k]; u < f->first_live[k + 1] && x[k] != 0; u++) {
            over[f->live[u].first] += x[k] * (double)f->live[u].bytes;
            over[f->live[u].last] -= x[k] * (double)f->live[u].bytes;
        }
    for (int s = 1; s < f->n_slots; s++)
        over[s] += over[s - 1];
    for (int s = 0; s < f->n_slots; s++)
        over[s] -= (double)m->p->limit;
    return over;
}

int model_cut(Model *m, const double *x)
{
    enum { MAX_NEW_CUTS = 12, SLOTS_PER_SPACING = 64 };
    Arena *a = arena_new();
    int n_slots = m->floats->n_slots, slot[MAX_NEW_CUTS], n = 0;
    double *over = excess_find(a, m, x);

    while (n < MAX_NEW_CUTS) {
        int best = -1;
        for (int s = 0; s < n_slots; s++)
            if (over[s] > 1e-6 * m->byte_unit && !m->has_memory[s] &&
                (best < 0 || over[s] > over[best]))
                best = s;
        if (best < 0)
            break;
        slot[n++] = best;
        int spacing = n_slots / SLOTS_PER_SPACING;
        for (int s = best - spacing; s <= best + spacing; s++)
            if (s >= 0 && s < n_slots)
                over[s] = 0;
    }
    if (n)
        memory_send(m, slot, n);
    arena_free(a);
    return n;
}

// The largest shift of a dual's unit, up to 40, at which all its numbers stay below 2^60: each is a
// sum of two that are at most 2^58.
static int shift_for(const Model *m, const double *row_dual)
{
    double most = 1;
    int shift = 40;

    for (int i = 0; i < m->first_memory; i++)
        most = fmax(most, fabs(row_dual[i]) * m->cost_unit);
    for (int i = m->p->n_nodes; i < m->first_memory && m->from.message; i++)
        most = fmax(most, fabs(of_unit(m, m->from.message[i - m->p->n_nodes])));
    for (int i = 0; i < m->n_memory; i++)
        most = fmax(most, m->price[m->memory[i]] +
                              fabs(row_dual[m->first_memory + i]) * m->cost_unit / m->byte_unit);
    while (shift > 0 && ldexp(most, shift) > ldexp(1, 58))
        shift--;
    return shift;
}

typedef struct Priced {
    int slot;
    int64_t price;
} Priced;

static int by_slot(const void *x, const void *y)
{
    const Priced *a = x, *b = y;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

// A row's dual v is the change of the objective for a unit of its right side. A pair has +1 in its
// edge's rows, so its reduced cost is its cost less both duals: messages are -v. Rows of memory
// have v <= 0: prices are -v.
Dual model_dual(Arena *a, const Model *m, const double *row_dual)
{
    Dual d = {.shift = shift_for(m, row_dual)};
    double unit = ldexp(m->cost_unit, d.shift);
    Priced *priced = arena_array(a, Priced, m->n_memory);
    int n = m->first_memory - m->p->n_nodes;

    d.message = arena_array(a, int64_t, n);
    for (int i = 0; i < n; i++) {
        double from = m->from.message ? of_unit(m, m->from.message[i]) : 0;
        d.message[i] = llround(ldexp(from, d.shift) - row_dual[m->p->n_nodes + i] * unit);
    }
    for (int i = 0; i < m->n_memory; i++) {
        double less = row_dual[m->first_memory + i] * unit / m->byte_unit;
        int64_t price = llround(ldexp(m->price[m->memory[i]], d.shift) - less);
        if (price > 0)
            priced[d.n_times++] = (Priced){m->memory[i], price};
    }
    if (d.n_times)
        qsort(priced, (size_t)d.n_times, sizeof *priced, by_slot);
    d.time = arena_array(a, int, d.n_times);
    d.price = arena_array(a, int64_t, d.n_times);
    for (int i = 0; i < d.n_times; i++) {
        d.time[i] = m->floats->slot_time[priced[i].slot];
        d.price[i] = priced[i].price;
    }
    return d;
}
