// The cheapest plan of a graph on a mesh.
#include "solver/plan_build.h"

#include <string.h>

// What is decided by no variable: the use of a value with one reader is what that needs.
static void read_uses(const PlanProblem *q, const Graph *g, Plan *p, Arena *a)
{
    p->use = arena_array(a, Spec, 3 * (size_t)g->n_values);
    for (int at = 0; at < 3 * g->n_values; at++)
        p->use[at] = p->spec[at / 3];
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && q->alike.node[n] == n; i++)
            if (g->nodes[n].in[i])
                p->use[use_of_input(q, g, n, i)] = strategy_spec(&q->rule[n], &p->strategy[n], i);
}

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
    read_uses(q, g, p, a);
    for (int at = 3; at < 3 * g->n_values; at++) {
        int first = 3 * q->alike.value[at / 3] + at % 3, i = q->of_use[first];
        p->use[at] = i < 0 ? p->use[first] : q->variable[i].spec[choice[i]];
    }
}

// The cheapest choice of the alternatives that are kept.
static void solve_kept(const PlanProblem *q, const bool *keep, const SolveOptions *o, Answer *to,
                       Arena *a, Diag *d)
{
    Arena *own = arena_new();
    int *original;
    Problem kept = problem_restrict(&q->problem, keep, &original, own);

    solve(&kept, o, to, a, d);
    for (int i = 0; i < kept.n_nodes && to->choice; i++)
        to->choice[i] = original[kept.first[i] + to->choice[i]];
    arena_free(own);
}

bool plan_find(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o, Planned *to,
               Arena *a, Diag *d)
{
    Arena *own = arena_new();
    PlanProblem q;

    *to = (Planned){.plan.mesh = *m};
    bool ok = plan_build(&q, g, c, m, o, own, d);
    if (ok) {
        int n = q.problem.first[q.problem.n_nodes];
        bool *keep = arena_array(own, bool, n);
        memset(keep, true, (size_t)n * sizeof *keep);
        ok = pins_apply(&q, g, m, o, keep, d);
        if (ok)
            solve_kept(&q, keep, &o->solve, &to->answer, a, d);
    }
    if (ok && to->answer.choice) {
        read_choice(&q, g, to->answer.choice, &to->plan, a);
        plan_report(&q, g, to, a);
    }
    arena_free(own);
    return ok;
}
