// Prices the nodes of a plan's problem: the time that a node's shard of work takes.
#include <math.h>

#include "solver/plan/build_problem.h"

static int64_t node_cost(Builder *b, NodeId n, const Work *whole, const Strategy *s, int64_t count)
{
    Work w = shard_work(b->g, &b->g->nodes[n], whole, &b->traffic, &b->q->rule[n], b->mesh, s);

    return count * llround(1e12 * shard_seconds(b->cluster, &w));
}

static void node_costs(Builder *b, const Variable *v, int64_t count, int64_t *cost)
{
    Work whole = node_work(b->g, &b->g->nodes[v->id]);

    for (int k = 0; k < v->n; k++)
        cost[k] = node_cost(b, v->id, &whole, &v->spec[k], count);
}

void plan_nodes(Builder *b)
{
    PlanProblem *q = b->q;
    Problem *p = &q->problem;
    int64_t *count = arena_array(b->scratch, int64_t, b->g->n_nodes);

    for (NodeId n = 1; n < b->g->n_nodes; n++)
        count[q->tied.node[n]] += times_of(b, b->g->nodes[n].phase);
    p->n_nodes = q->n_variables;
    p->first = arena_array(b->arena, int, q->n_variables + 1);
    for (int i = 0; i < q->n_variables; i++)
        p->first[i + 1] = p->first[i] + q->variable[i].n;
    p->cost = arena_array(b->arena, int64_t, p->first[p->n_nodes]);
    for (int i = 0; i < q->n_variables; i++)
        if (q->variable[i].kind == VARIABLE_NODE)
            node_costs(b, &q->variable[i], count[q->variable[i].id], p->cost + p->first[i]);
    plan_bytes(b);
}
