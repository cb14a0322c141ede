// Recomputes the bound of a certificate round by round, from the text of the answer's file.
#include <limits.h>
#include <stdlib.h>

#include "solver/assign/check.h"

bool answer_wrong(Diag *d, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    diag_verror(d, fmt, args);
    va_end(args);
    return false;
}

// The state of the check of one round.
typedef struct Proof {
    const Problem *p;
    const StoredRound *s;
    Wide cost;  // cost of the answer's choice
    // Alternatives and pairs that earlier rounds excluded.
    bool *is_out;
    ExcludedPairs *excluded;
    int n_excluded_pairs, cap_excluded_pairs;
    Residual left;
    ResidualArc **arc;   // by edge of the round: its arc
    int **remaining;     // by remaining node: its remaining alternatives
    int *n_remaining;    // by remaining node: how many these are
    Wide *least;         // by edge of the round: the least of its pairs, with messages
    Wide bound;          // in the round's unit
    Arena *arena, *all;  // arena: of this round; all: of all rounds
    bool sums_fit;       // sums of costs can't overflow
    Diag *d;
} Proof;

// ---- ranges of the numbers ----

// The prices must sum to less than 2^62. Then no term of the bound exceeds 128 bits: bytes sum to
// less than 2^63, and there are fewer than 2^26 costs, each below 2^60 and shifted by at most 40.
static bool check_prices(const Proof *c)
{
    const Lists *times = &c->s->times, *prices = &c->s->prices;
    Wide sum = 0;

    if (times->n_x != prices->n_x)
        return answer_wrong(c->d, "the duals have %d times, but %d prices", times->n_x,
                            prices->n_x);
    for (int t = 0; t < times->n_x; t++) {
        if (times->x[t] < 0 || times->x[t] > INT_MAX || (t && times->x[t] <= times->x[t - 1]))
            return answer_wrong(c->d, "the times of the duals don't ascend at %" PRId64,
                                times->x[t]);
        if (prices->x[t] <= 0)
            return answer_wrong(c->d, "a price of the duals is %" PRId64, prices->x[t]);
        sum += prices->x[t];
    }
    return sum < (Wide)1 << 62 || answer_wrong(c->d, "the prices of the duals sum to 2^62 or more");
}

static bool check_shape(const Proof *c)
{
    const StoredRound *s = c->s;

    if (s->shift < 0 || s->shift > 40)
        return answer_wrong(c->d, "the shift of the duals isn't from 0 to 40");
    if (s->steps.n_x % 3)
        return answer_wrong(c->d, "the steps of the duals are %d numbers, not threes",
                            s->steps.n_x);
    if (s->edges.n_x % 2 || s->edges.n_x / 2 != s->messages.n)
        return answer_wrong(c->d, "the duals have messages of %d edges, but %d ends of edges",
                            s->messages.n, s->edges.n_x);
    return check_prices(c);
}

// ---- the problem at the round's prices ----

// The cost of live bytes: their number times the sum of the prices at times from `first` to before
// `last`. before[i] is the sum of the first i prices.
static Wide byte_cost(const Proof *c, const Wide *before, const LiveBytes *u)
{
    const Lists *times = &c->s->times;
    int at[2];

    for (int i = 0; i < 2; i++) {
        int64_t time = i ? u->last : u->first;
        int from = 0, to = times->n_x;
        while (from < to) {
            int middle = from + (to - from) / 2;
            if (times->x[middle] >= time)
                to = middle;
            else
                from = middle + 1;
        }
        at[i] = from;
    }
    return (before[at[1]] - before[at[0]]) * u->bytes;
}

// Builds the round's problem. Costs include the cost of bytes. The bound begins with minus the
// limit times the sum of the prices.
static void build(Proof *c)
{
    const Problem *p = c->p;
    const Wide unit = (Wide)1 << c->s->shift;
    int n = p->n_nodes ? p->first[p->n_nodes] : 0, n_times = c->s->times.n_x;
    Wide *cost = arena_array(c->arena, Wide, n), *before = arena_array(c->arena, Wide, n_times + 1);
    bool *is_out = arena_array(c->arena, bool, n);

    for (int t = 0; t < n_times; t++)
        before[t + 1] = before[t] + c->s->prices.x[t];
    for (int k = 0; k < n; k++) {
        is_out[k] = c->is_out[k] || p->cost[k] >= COST_FORBIDDEN;
        cost[k] = unit * p->cost[k];
        for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++)
            cost[k] += byte_cost(c, before, &p->live[u]);
    }
    c->bound = -before[n_times] * p->limit;
    residual_build(c->arena, &c->left, p, unit, cost, is_out, c->excluded, c->n_excluded_pairs,
                   c->d);
}

static bool reduce(Proof *c)
{
    const int64_t *step = c->s->steps.x;

    for (int i = 0; i < c->s->steps.n_x && !c->left.is_empty; i += 3) {
        if (!c->sums_fit && step[i] != RULE_FULL)
            return answer_wrong(c->d,
                                "the duals have steps that add costs, which sum to 10^18 or more");
        if (!residual_step(&c->left, step[i], step[i + 1], step[i + 2]))
            return false;
    }
    return true;
}

// ---- the round's edges, and the nodes that remain ----

static void remaining_find(Proof *c)
{
    int n = c->p->n_nodes;

    c->remaining = arena_array(c->arena, int *, n);
    c->n_remaining = arena_array(c->arena, int, n);
    for (int i = 0; i < n; i++) {
        const ResidualVertex *x = &c->left.vertex[i];
        if (x->is_gone)
            continue;
        c->remaining[i] = arena_array(c->arena, int, x->n);
        for (int k = 0; k < x->n; k++)
            if (!x->is_out[k])
                c->remaining[i][c->n_remaining[i]++] = k;
    }
}

// Checks that each remaining edge has messages exactly once.
static bool edges_match(Proof *c)
{
    const Lists *m = &c->s->messages;
    int n_left = 0;

    for (int i = 0; i < c->left.n_arcs; i++)
        n_left += !c->left.arc[i].is_gone;
    if (n_left != m->n)
        return answer_wrong(c->d, "the duals have messages of %d edges, but %d are left", m->n,
                            n_left);
    c->arc = arena_array(c->arena, ResidualArc *, m->n);
    for (int e = 0; e < m->n; e++) {
        int64_t a = c->s->edges.x[2 * e], b = c->s->edges.x[2 * e + 1];
        ResidualArc *arc = c->arc[e] = residual_find(&c->left, a, b);
        if (!arc || arc->is_queued)
            return answer_wrong(c->d,
                                "the duals have messages of nodes %" PRId64 " and %" PRId64 " %s",
                                a, b, arc ? "twice" : "without an edge");
        arc->is_queued = true;  // marks it as seen
        int expected = c->n_remaining[a] + c->n_remaining[b];
        if (list_size(m, e) != expected)
            return answer_wrong(c->d, "edge %d has %d messages, expected %d", e, list_size(m, e),
                                expected);
    }
    return true;
}

// Edge e of the round, with its ends and the messages to them.
typedef struct EdgeView {
    const ResidualArc *arc;
    int end[2];
    const int64_t *to[2];
} EdgeView;

static EdgeView edge_view(const Proof *c, int e)
{
    EdgeView x = {c->arc[e], {(int)c->s->edges.x[2 * e], (int)c->s->edges.x[2 * e + 1]}, {NULL}};

    x.to[0] = list_at(&c->s->messages, e);
    x.to[1] = x.to[0] + c->n_remaining[x.end[0]];
    return x;
}

// The cost, with messages, of the i-th remaining alternative of end 0 with the j-th of end 1.
static Wide pair_cost(const Proof *c, const EdgeView *x, int i, int j)
{
    Wide cost = residual_arc_cost(&c->left, x->arc, x->end[0], c->remaining[x->end[0]][i],
                                  c->remaining[x->end[1]][j]);

    return cost >= COST_EXCLUDED ? COST_EXCLUDED : cost + x->to[0][i] + x->to[1][j];
}

// ---- the bound ----

static void edges_bound(Proof *c)
{
    c->least = arena_array(c->arena, Wide, c->s->messages.n);
    for (int e = 0; e < c->s->messages.n; e++) {
        EdgeView x = edge_view(c, e);
        Wide least = WIDE_MAX;
        for (int i = 0; i < c->n_remaining[x.end[0]]; i++)
            for (int j = 0; j < c->n_remaining[x.end[1]]; j++) {
                Wide cost = pair_cost(c, &x, i, j);
                least = cost < least && cost < COST_EXCLUDED ? cost : least;
            }
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < c->n_remaining[x.end[s]]; i++)
                c->left.vertex[x.end[s]].cost[c->remaining[x.end[s]][i]] -= x.to[s][i];
        c->least[e] = least;
        c->bound += least;
    }
}

// Adds the nodes' least costs to the bound. Turns their costs into slack, the cost above the least.
static void nodes_bound(Proof *c)
{
    for (int i = 0; i < c->p->n_nodes; i++) {
        Wide *cost = c->left.vertex[i].cost, least = WIDE_MAX;
        for (int k = 0; k < c->n_remaining[i]; k++)
            least = cost[c->remaining[i][k]] < least ? cost[c->remaining[i][k]] : least;
        for (int k = 0; k < c->n_remaining[i]; k++)
            cost[c->remaining[i][k]] -= least;
        c->bound += c->n_remaining[i] ? least : 0;
    }
}

// ---- exclusions ----
// The cost of a choice is the bound plus the slack of its alternatives and its pairs. An
// alternative or a pair is excluded if every choice with it has more slack than a cheaper choice
// may have.

// By alternative: the least slack of a choice with it.
typedef struct NodeSlack {
    Wide *with_edges;       // its own slack and that of pairs of its edges
    Wide *with_neighbours;  // the same, and the slack of the edges' other ends
} NodeSlack;

// For each remaining alternative of end s of an edge, in order, the least slack of a pair with it,
// and the least sum of that and the slack of the other end.
static void edge_slack(const Proof *c, const EdgeView *x, Wide least, int s, Wide *with_edges,
                       Wide *with_neighbours)
{
    int other = x->end[!s];

    for (int i = 0; i < c->n_remaining[x->end[s]]; i++) {
        with_edges[i] = with_neighbours[i] = WIDE_MAX;
        for (int j = 0; j < c->n_remaining[other]; j++) {
            Wide cost = s ? pair_cost(c, x, j, i) : pair_cost(c, x, i, j);
            if (cost >= COST_EXCLUDED)
                continue;
            Wide beyond = cost - least + c->left.vertex[other].cost[c->remaining[other][j]];
            with_edges[i] = cost - least < with_edges[i] ? cost - least : with_edges[i];
            with_neighbours[i] = beyond < with_neighbours[i] ? beyond : with_neighbours[i];
        }
    }
}

static NodeSlack node_slacks(const Proof *c)
{
    const Problem *p = c->p;
    int n = p->n_nodes ? p->first[p->n_nodes] : 0;
    NodeSlack all = {arena_array(c->arena, Wide, n), arena_array(c->arena, Wide, n)};
    Wide *with_edges = arena_array(c->arena, Wide, n),
         *with_neighbours = arena_array(c->arena, Wide, n);

    for (int e = 0; e < c->s->messages.n; e++) {
        EdgeView x = edge_view(c, e);
        for (int s = 0; s < 2; s++) {
            edge_slack(c, &x, c->least[e], s, with_edges, with_neighbours);
            for (int i = 0; i < c->n_remaining[x.end[s]]; i++) {
                int k = p->first[x.end[s]] + c->remaining[x.end[s]][i];
                all.with_edges[k] += with_edges[i];
                all.with_neighbours[k] += with_neighbours[i];
            }
        }
    }
    for (int i = 0; i < p->n_nodes; i++)
        for (int k = 0; k < c->left.vertex[i].n && c->n_remaining[i]; k++) {
            all.with_edges[p->first[i] + k] += c->left.vertex[i].cost[k];
            all.with_neighbours[p->first[i] + k] += c->left.vertex[i].cost[k];
        }
    return all;
}

// Excludes the pairs of edge e that need too much slack. Counted are the pair's own slack, the
// slack around one end, and the slack of the other end and its edges. The larger sum of both ends
// counts.
static void pairs_rule_out(Proof *c, int e, const NodeSlack *all, Wide max_slack)
{
    const Problem *p = c->p;
    EdgeView x = edge_view(c, e);
    const int *n = c->n_remaining;
    Wide *with_edges[2], *with_neighbours[2];
    ExcludedPairs out = {x.end[0], x.end[1], NULL};

    for (int s = 0; s < 2; s++) {
        with_edges[s] = arena_array(c->arena, Wide, n[x.end[s]]);
        with_neighbours[s] = arena_array(c->arena, Wide, n[x.end[s]]);
        edge_slack(c, &x, c->least[e], s, with_edges[s], with_neighbours[s]);
    }
    for (int i = 0; i < n[x.end[0]]; i++)
        for (int j = 0; j < n[x.end[1]]; j++) {
            Wide cost = pair_cost(c, &x, i, j);
            int k = c->remaining[x.end[0]][i], l = c->remaining[x.end[1]][j];
            int a = p->first[x.end[0]] + k, b = p->first[x.end[1]] + l;
            Wide at_a = all->with_neighbours[a] - with_neighbours[0][i] + all->with_edges[b] -
                        with_edges[1][j];
            Wide at_b = all->with_neighbours[b] - with_neighbours[1][j] + all->with_edges[a] -
                        with_edges[0][i];
            if (cost >= COST_EXCLUDED ||
                cost - c->least[e] + (at_a > at_b ? at_a : at_b) <= max_slack)
                continue;
            if (!out.is_out)
                out.is_out =
                    arena_array(c->all, bool, c->left.vertex[out.a].n * c->left.vertex[out.b].n);
            out.is_out[k * c->left.vertex[out.b].n + l] = true;
        }
    if (out.is_out)
        *arena_push(c->all, c->excluded, c->n_excluded_pairs, c->cap_excluded_pairs) = out;
}

static void rule_out(Proof *c)
{
    const Problem *p = c->p;
    Wide max_slack = (c->cost - 1) * c->left.unit - c->bound;
    NodeSlack all = node_slacks(c);

    for (int e = 0; e < c->s->messages.n; e++)
        pairs_rule_out(c, e, &all, max_slack);
    for (int i = 0; i < p->n_nodes; i++)
        for (int j = 0; j < c->n_remaining[i]; j++) {
            int k = p->first[i] + c->remaining[i][j];
            c->is_out[k] |= all.with_neighbours[k] > max_slack;
        }
}

// ---- rounds ----

// Computes the bound that a round proves, at most the cost of the choice.
static bool round_bound(Proof *c, Wide *bound)
{
    if (!check_shape(c))
        return false;
    build(c);
    if (!reduce(c))
        return false;
    if (c->left.is_empty) {
        *bound = c->cost;
        return true;
    }
    remaining_find(c);
    if (!edges_match(c))
        return false;
    c->bound += c->left.base;
    edges_bound(c);
    nodes_bound(c);
    Wide unit = c->left.unit;
    *bound = c->bound / unit + (c->bound % unit > 0);  // rounded up, as costs are whole numbers
    *bound = *bound < c->cost ? *bound : c->cost;
    return true;
}

// Are all sums of costs that steps can form below COST_FORBIDDEN?
static bool sums_fit(const Problem *p)
{
    Wide sum = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t most = 0;
        for (int k = p->first[i]; k < p->first[i + 1]; k++)
            if (p->cost[k] < COST_FORBIDDEN && llabs(p->cost[k]) > most)
                most = llabs(p->cost[k]);
        sum += most;
    }
    for (int e = 0; e < p->n_edges; e++) {
        int64_t most = 0;
        for (int64_t i = 0; i < edge_pairs(p, e); i++)
            if (p->edge[e].cost[i] < COST_FORBIDDEN && llabs(p->edge[e].cost[i]) > most)
                most = llabs(p->edge[e].cost[i]);
        sum += most;
    }
    return sum < COST_FORBIDDEN;
}

bool stored_bound(const Problem *p, const Stored *s, Wide cost, Wide *bound, Diag *d)
{
    Arena *a = arena_new();
    Proof c = {.p = p, .cost = cost, .all = a, .d = d};
    bool ok = s->n_rounds > 0;

    if (!ok)
        answer_wrong(d, "there are no duals");
    c.is_out = arena_array(a, bool, p->n_nodes ? p->first[p->n_nodes] : 0);
    c.sums_fit = sums_fit(p);
    for (int i = 0; i < s->n_rounds && ok; i++) {
        Wide round = 0;
        c.s = &s->round[i];
        c.arena = arena_new();
        ok = round_bound(&c, &round);
        if (ok && !c.left.is_empty && i + 1 < s->n_rounds)
            rule_out(&c);
        *bound = i == 0 || round > *bound ? round : *bound;
        arena_free(c.arena);
    }
    arena_free(a);
    return ok;
}
