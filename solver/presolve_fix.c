// Reduced-cost fixing: what a dual proves to cost at least the cutoff goes before the rules begin.
// A dual's bound is a sum of least terms; a choice costs it and the slack of every term that it
// takes above the least (Savchynskyy 2019, chapter 5). The slack around one alternative, or one
// pair, that no choice of it can avoid is added up.
#include "solver/presolve.h"

typedef struct Slack {
    const Problem *p;
    const Dual *dual;
    Arena *arena;
    Wide room;      // what a choice below the cutoff has for all its slack
    Wide *node;     // by alternative: its own slack
    Wide *thin;     // by alternative: with the least of its edges
    Wide *wide;     // by alternative: with the least of its edges and of their other ends
    Wide *least;    // by edge: of its pairs, with messages
    Wide **edge;    // by edge, for each alternative of a, then of b: the least slack of its pairs
    Wide **beyond;  // the same, with the slack of the other end
} Slack;

// Above the cost of every pair that isn't forbidden.
#define FAR ((Wide)1 << 120)

// Takes the least of x off; gives it.
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

    return is_forbidden(cost) ? FAR : cost * unit_of(s->dual) + sum;
}

// The bound of the edges. What their messages give leaves the nodes.
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
            row[i] = FAR;
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
        for (int u = p->first_use[k]; u < p->first_use[k + 1]; u++)
            s->node[k] += (sum[lower(d->time, d->n_times, p->use[u].last)] -
                           sum[lower(d->time, d->n_times, p->use[u].first)]) *
                          p->use[u].bytes;
    }
    for (int i = 0; i < p->n_nodes; i++)
        bound += level(s->node + p->first[i], n_alternatives(p, i));
    return bound - p->limit * sum[d->n_times];
}

// Slack beyond the room is as good as any.
static Wide clamp(const Slack *s, Wide x) { return x > s->room ? s->room + 1 : x; }

static void slack_spread(Slack *s)
{
    const Problem *p = s->p;
    const int64_t *message = s->dual->message;

    for (int k = 0; k < p->first[p->n_nodes]; k++)
        s->node[k] = s->thin[k] = s->wide[k] = clamp(s, s->node[k]);
    for (int e = 0; e < p->n_edges; e++) {
        const Edge *edge = &p->edge[e];
        int ka = n_alternatives(p, edge->a), kb = n_alternatives(p, edge->b);
        int a = p->first[edge->a], b = p->first[edge->b];
        Wide *beyond = s->beyond[e] = arena_array(s->arena, Wide, ka + kb);
        for (int i = 0; i < ka + kb; i++) {
            beyond[i] = s->room + 1;
            s->edge[e][i] = clamp(s, s->edge[e][i]);
            s->thin[i < ka ? a + i : b + i - ka] += s->edge[e][i];
        }
        for (int k = 0; k < ka; k++)
            for (int l = 0; l < kb; l++) {
                Wide x = pair_cost(s, edge, message, k, l) - s->least[e];
                Wide to_a = x + s->node[b + l], to_b = x + s->node[a + k];
                beyond[k] = to_a < beyond[k] ? to_a : beyond[k];
                beyond[ka + l] = to_b < beyond[ka + l] ? to_b : beyond[ka + l];
            }
        for (int i = 0; i < ka + kb; i++)
            s->wide[i < ka ? a + i : b + i - ka] += beyond[i];
        message += ka + kb;
    }
}

// Marks the pairs of an edge that cost too much with what is around one end or the other.
static void pairs_mark(const Slack *s, int e, const int64_t *message, bool *mark)
{
    const Edge *edge = &s->p->edge[e];
    int ka = n_alternatives(s->p, edge->a), kb = n_alternatives(s->p, edge->b);
    int a = s->p->first[edge->a], b = s->p->first[edge->b];
    const Wide *row = s->edge[e], *beyond = s->beyond[e];

    for (int k = 0; k < ka; k++)
        for (int l = 0; l < kb; l++) {
            Wide x = pair_cost(s, edge, message, k, l) - s->least[e];
            Wide at_a = s->wide[a + k] - beyond[k] + s->thin[b + l] - row[ka + l];
            Wide at_b = s->wide[b + l] - beyond[ka + l] + s->thin[a + k] - row[k];
            *mark++ = x + (at_a > at_b ? at_a : at_b) > s->room &&
                      !is_forbidden(edge_cost(s->p, edge, k, l));
        }
}

// All slacks of p; false where the bound alone is not below the cutoff. Arrays are the arena's.
static bool slack_find(Slack *s, const Problem *p, const Dual *dual, Wide cutoff, Arena *a)
{
    int n = p->n_nodes ? p->first[p->n_nodes] : 0;

    *s = (Slack){.p = p, .dual = dual, .arena = a};
    s->node = arena_array(a, Wide, n);
    s->thin = arena_array(a, Wide, n);
    s->wide = arena_array(a, Wide, n);
    s->least = arena_array(a, Wide, p->n_edges);
    s->edge = arena_array(a, Wide *, p->n_edges);
    s->beyond = arena_array(a, Wide *, p->n_edges);
    Wide bound = edges_level(s);
    bound += nodes_level(s);
    s->room = (cutoff - 1) * unit_of(dual) - bound;
    if (s->room >= 0)
        slack_spread(s);
    return s->room >= 0;
}

bool slack_mark(const Problem *p, const Dual *dual, Wide cutoff, bool *mark, bool *pair)
{
    const int64_t *message = dual->message;
    Arena *a = arena_new();
    Slack s;
    bool is_room = slack_find(&s, p, dual, cutoff, a);

    for (int k = 0; is_room && p->n_nodes && k < p->first[p->n_nodes]; k++)
        mark[k] = s.wide[k] > s.room;
    for (int e = 0; is_room && e < p->n_edges; e++) {
        pairs_mark(&s, e, message, pair);
        message += edge_messages(p, e);
        pair += edge_pairs(p, e);
    }
    arena_free(a);
    return is_room;
}

// Forbids the marked pairs of an edge.
static void pairs_drop(Net *g, int e, const bool *pair, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (pair[i]) {
            tie_own(g, &g->tie[e]);
            g->tie[e].cost[i] = COST_FORBIDDEN;
        }
}

void net_fix(Net *g, const Problem *p, const Dual *dual, Wide cutoff)
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
