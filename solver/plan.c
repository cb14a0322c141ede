// The cheapest plan of a graph on a mesh.
#include "solver/plan_build.h"

static void read_choice(const PlanProblem *q, const Graph *g, const int *choice, Plan *p, Arena *a)
{
    p->spec = arena_array(a, Spec, g->n_values);
    p->strategy = arena_array(a, Strategy, g->n_nodes);
    for (ValueId v = 1; v < g->n_values; v++) {
        int i = q->of_value[q->alike.value[v]];
        p->spec[v] = q->variable[i].spec[choice[i]];
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        int i = q->of_node[q->alike.node[n]];
        p->strategy[n] = q->variable[i].spec[choice[i]];
    }
}

bool plan_find(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o, Planned *to,
               Arena *a, Diag *d)
{
    Arena *own = arena_new();
    PlanProblem q;

    *to = (Planned){.plan.mesh = *m};
    bool ok = plan_build(&q, g, c, m, o->accumulate, o->memory, own, d);
    if (ok) {
        solve(&q.problem, &o->solve, &to->answer, a, d);
        if (to->answer.choice)
            read_choice(&q, g, to->answer.choice, &to->plan, a);
    }
    arena_free(own);
    return ok;
}
