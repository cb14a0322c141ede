// Reduced-cost fixing: drops the alternatives and pairs that a dual proves to cost at least the
// cutoff. A dual's bound is a sum of least terms. A choice costs the bound plus the slack of every
// term that it takes above the least (Savchynskyy 2019, chapter 5). This sums the slack around one
// alternative, or one pair, that no choice with it can avoid.
#include "solver/assign/presolve.h"

typedef struct Slack {
    const Problem *p;
    const Dual *dual;
    Arena *arena;
    Wide max_slack;         // most slack of a choice below the cutoff
    Wide *node;             // by alternative: its own slack
    Wide *with_edges;       // by alternative: its own and the least of its edges
    Wide *with_neighbours;  // by alternative: the same with the edges' other ends
    Wide *least;            // by edge: its least pair, with messages
    // By edge, for each alternative of a, then of b: the least slack of its pairs.
    Wide **edge;
    // The same, with the slack of the other end.
    Wide **edge_and_neighbour;
} Slack;

// Above the cost of every allowed pair.
#define FORBIDDEN_SLACK ((Wide)1 << 120)

// Subtracts the least of x from all n values, and returns it.
static Wide level(Wide *x, int n)
{
    Wide least = n ? x[0] : 0;

    for (int i = 1; i < n; i++)
        least = x[i] < least ? x[i] : least;
    for (int i = 0; i < n; i++)
        x[i] -= least;
    return least;
}

// A cost of 1 in the dual's units.
static Wide unit_of(const Dual *d) { return (Wide)1 << d->shift; }

static Wide pair_cost(const Slack *s, const Edge *e, const int64_t *message, int k, int l)
{
    int64_t cost = edge_cost(s->p, e, k, l);
    Wide sum = (Wide)message[k] + message[n_alternatives(s->p, e->a) + l];

    return is_forbidden(cost) ? FORBIDDEN_SLACK : cost * unit_of(s->dual) + sum;
}

// The edges' part of the bound. Subtracts the messages from the nodes' costs.
static Wide edges_level(Slack *s)
{
    const Problem *p = s->p;
    const int64_t *message = s->dual->message;
    Wide bound = 0;

    for (int e = 0; e < p->n_edges; e++) {
        const Edge *edge = &p->edge[e];
        int ka = n_alternatives(p, edge->a), kb = n_alternatives(p, edge->b);
        Wide *row = s->edge[e] = arena_array(s->arena, Wide, ka + kb), *column = row + ka;
        for (int i = 0; i < ka + kb; i++)
            row[i] = FORBIDDEN_SLACK;
        for (int k = 0; k < ka; k++)
            for (int l = 0; l < kb; l++) {
                Wide x = pair_cost(s, edge, message, k, l);
                row[k] = x < row[k] ? x : row[k];
                column[l] = x < column[l] ? x : column[l];
            }
        s->least[e] = level(row, ka);
        for (int l = 0; l < kb; l++)
            column[l] -= s->least[e];
        for (int k = 0; k < ka; k++)
            s->node[p->first[edge->a] + k] -= message[k];
        for (int l = 0; l < kb; l++)
            s->node[p->first[edge->b] + l] -= message[ka + l];
        bound += s->least[e];
        message += ka + kb;
    }
    return bound;
}

static Wide nodes_level(Slack *s)
{
    const Problem *p = s->p;
    const Dual *d = s->dual;
    Wide *sum = arena_array(s->arena, Wide, d->n_times + 1), bound = 0;

    for (int t = 0; t < d->n_times; t++)
        sum[t + 1] = sum[t] + d->price[t];
    for (int k = 0; k < p->first[p->n_nodes]; k++) {
        s->node[k] += p->cost[k] * unit_of(d);
        for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++)
            s->node[k] += (sum[lower(d->time, d->n_times, p->live[u].last)] -
                           sum[lower(d->time, d->n_times, p->live[u].first)]) *
                          p->live[u].bytes;
    }
    for (int i = 0; i < p->n_nodes; i++)
        bound += level(s->node + p->first[i], n_alternatives(p, i));
    return bound - p->limit * sum[d->n_times];
}

// Clamps slack above max_slack, as its size no longer matters.
static Wide clamp(const Slack *s, Wide x) { return x > s->max_slack ? s->max_slack + 1 : x; }

static void slack_add_neighbours(Slack *s)
{
    const Problem *p = s->p;
    const int64_t *message = s->dual->message;

    for (int k = 0; k < p->first[p->n_nodes]; k++)
        s->node[k] = s->with_edges[k] = s->with_neighbours[k] = clamp(s, s->node[k]);
    for (int e = 0; e < p->n_edges; e++) {
        const Edge *edge = &p->edge[e];
        int ka = n_alternatives(p, edge->a), kb = n_alternatives(p, edge->b);
        int a = p->first[edge->a], b = p->first[edge->b];
        Wide *edge_and_neighbour = s->edge_and_neighbour[e] = arena_array(s->arena, Wide, ka + kb);
        for (int i = 0; i < ka + kb; i++) {
            edge_and_neighbour[i] = s->max_slack + 1;
            s->edge[e][i] = clamp(s, s->edge[e][i]);
            s->with_edges[i < ka ? a + i : b + i - ka] += s->edge[e][i];
        }
        for (int k = 0; k < ka; k++)
            for (int l = 0; l < kb; l++) {
                Wide x = pair_cost(s, edge, message, k, l) - s->least[e];
                Wide to_a = x + s->node[b + l], to_b = x + s->node[a + k];
                edge_and_neighbour[k] = to_a < edge_and_neighbour[k] ? to_a : edge_and_neighbour[k];
                edge_and_neighbour[ka + l] =
                    to_b < edge_and_neighbour[ka + l] ? to_b : edge_and_neighbour[ka + l];
            }
        for (int i = 0; i < ka + kb; i++)
            s->with_neighbours[i < ka ? a + i : b + i - ka] += edge_and_neighbour[i];
        message += ka + kb;
    }
}

// Marks the pairs of an edge that need too much slack, with the slack around one end or the other.
static void pairs_mark(const Slack *s, int e, const int64_t *message, bool *mark)
{
    const Edge *edge = &s->p->edge[e];
    int ka = n_alternatives(s->p, edge->a), kb = n_alternatives(s->p, edge->b);
    int a = s->p->first[edge->a], b = s->p->first[edge->b];
    const Wide *row = s->edge[e], *edge_and_neighbour = s->edge_and_neighbour[e];

    for (int k = 0; k < ka; k++)
        for (int l = 0; l < kb; l++) {
            Wide x = pair_cost(s, edge, message, k, l) - s->least[e];
            Wide at_a = s->with_neighbours[a + k] - edge_and_neighbour[k] + s->with_edges[b + l] -
                        row[ka + l];
            Wide at_b = s->with_neighbours[b + l] - edge_and_neighbour[ka + l] +
                        s->with_edges[a + k] - row[k];
            *mark++ = x + (at_a > at_b ? at_a : at_b) > s->max_slack &&
                      !is_forbidden(edge_cost(s->p, edge, k, l));
        }
}

// Finds all slacks of p, in the arena. False where the bound alone isn't below the cutoff.
static bool slack_find(Arena *a, Slack *s, const Problem *p, const Dual *dual, Wide cutoff)
{
    int n = p->n_nodes ? p->first[p->n_nodes] : 0;

    *s = (Slack){.p = p, .dual = dual, .arena = a};
    s->node = arena_array(a, Wide, n);
    s->with_edges = arena_array(a, Wide, n);
    s->with_neighbours = arena_array(a, Wide, n);
    s->least = arena_array(a, Wide, p->n_edges);
    s->edge = arena_array(a, Wide *, p->n_edges);
    s->edge_and_neighbour = arena_array(a, Wide *, p->n_edges);
    Wide bound = edges_level(s);
    bound += nodes_level(s);
    s->max_slack = (cutoff - 1) * unit_of(dual) - bound;
    if (s->max_slack >= 0)
        slack_add_neighbours(s);
    return s->max_slack >= 0;
}

bool slack_mark(const Problem *p, const Dual *dual, Wide cutoff, bool *mark, bool *pair)
{
    const int64_t *message = dual->message;
    Arena *a = arena_new();
    Slack s;
    bool is_within_slack = slack_find(a, &s, p, dual, cutoff);

    for (int k = 0; is_within_slack && p->n_nodes && k < p->first[p->n_nodes]; k++)
        mark[k] = s.with_neighbours[k] > s.max_slack;
    for (int e = 0; is_within_slack && e < p->n_edges; e++) {
        pairs_mark(&s, e, message, pair);
        message += edge_messages(p, e);
        pair += edge_pairs(p, e);
    }
    arena_free(a);
    return is_within_slack;
}

// Forbids the marked pairs of an edge.
static void pairs_drop(ConstraintNet *g, int e, const bool *pair, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (pair[i]) {
            arc_own(g, &g->arc[e]);
            g->arc[e].cost[i] = COST_FORBIDDEN;
        }
}

void net_fix(ConstraintNet *g, const Problem *p, const Dual *dual, Wide cutoff)
{
    Arena *a = arena_new();
    bool *mark = arena_array(a, bool, p->n_nodes ? p->first[p->n_nodes] : 0);
    bool *pair = arena_array(a, bool, problem_pairs(p));

    g->is_impossible |= !slack_mark(p, dual, cutoff, mark, pair);
    for (int e = 0; e < p->n_edges && !g->is_impossible; e++) {
        pairs_drop(g, e, pair, edge_pairs(p, e));
        pair += edge_pairs(p, e);
    }
    for (int i = 0; i < p->n_nodes; i++)
        for (int k = 0; k < n_alternatives(p, i); k++)
            g->node[i].is_dead[k] |= mark[p->first[i] + k];
    arena_free(a);
}
