// Prices the nodes of a plan's problem: the time that a node's shard of work takes.
#include <math.h>

#include "solver/plan/build_problem.h"

// A graph whose nodes are priced. Tied nodes cost alike: the first one represents all.
typedef struct Prices {
    const Graph *g;
    Traffic traffic;
    const TiedValues *tied;
    int64_t *times;  // by NodeId: how often its tied nodes run in a step, if it is the first one
} Prices;

static Prices prices_of(const Builder *b, const Graph *g, Traffic t, const TiedValues *tied)
{
    Prices x = {g, t, tied, arena_array(b->scratch, int64_t, g->n_nodes)};

    const int64_t *times = node_times(b->scratch, g, b->o->accumulate);

    for (NodeId n = 1; n < g->n_nodes; n++)
        x.times[tied->node[n]] += times[n];
    return x;
}

// Adds the price of a node to cost[k] for each alternative k of the variable.
static void add_price(const Builder *b, const Prices *x, NodeId n, const Variable *v, int64_t *cost)
{
    Work whole = node_work(x->g, &x->g->nodes[n]);
    const Rule *r = &b->q->rule[v->id];

    for (int k = 0; k < v->n; k++) {
        Work w = shard_work(x->g, &x->g->nodes[n], &whole, &x->traffic, r, b->mesh, &v->spec[k]);
        cost[k] += x->times[n] * llround(1e12 * shard_seconds(b->cluster, &w));
    }
}

// The prices of all alternatives in another graph. A node has the strategy of the one it repeats.
static int64_t *other_costs(const Builder *b, const OtherGraph *other)
{
    const PlanProblem *q = b->q;
    const TiedValues tied = tied_find(b->scratch, other->g);
    const Prices x = prices_of(b, other->g, traffic_find(b->scratch, other->g), &tied);
    int64_t *cost = arena_array(b->scratch, int64_t, q->problem.first[q->n_variables]);

    for (NodeId n = 1; n < other->g->n_nodes; n++) {
        int i = q->of_node[q->tied.node[other->node[n]]];
        if (tied.node[n] == n)
            add_price(b, &x, n, &q->variable[i], cost + q->problem.first[i]);
    }
    return cost;
}

// Sets the costs of strategies to the least that they are in one of the other graphs.
static void take_least_costs(Builder *b)
{
    Problem *p = &b->q->problem;

    for (int i = 0; i < b->o->n_others; i++) {
        const int64_t *cost = other_costs(b, &b->o->other[i]);
        for (int k = 0; k < p->first[p->n_nodes]; k++)
            p->cost[k] = i && p->cost[k] < cost[k] ? p->cost[k] : cost[k];
    }
}

void plan_nodes(Builder *b)
{
    PlanProblem *q = b->q;
    Problem *p = &q->problem;
    const Prices x = prices_of(b, b->g, b->traffic, &q->tied);

    p->n_nodes = q->n_variables;
    p->first = arena_array(b->arena, int, q->n_variables + 1);
    for (int i = 0; i < q->n_variables; i++)
        p->first[i + 1] = p->first[i] + q->variable[i].n;
    p->cost = arena_array(b->arena, int64_t, p->first[p->n_nodes]);
    for (int i = 0; i < q->n_variables; i++)
        if (q->variable[i].kind == VARIABLE_NODE)
            add_price(b, &x, q->variable[i].id, &q->variable[i], p->cost + p->first[i]);
    take_least_costs(b);
    plan_bytes(b);
}
