// Starts of local searches, from the prices and messages of a dual.
#include <math.h>
#include <string.h>

#include "solver/assign/search.h"

// Writes the costs of node i's alternatives: with the choices of the nodes after it, and with the
// messages of the nodes before it.
static void receive_messages(const Search *s, const Dual *d, const int64_t *first, int i,
                             const int *choice, double *scratch[2], double *cost)
{
    const FloatProblem *f = s->f;
    const Problem *p = f->p;
    int n = n_alternatives(p, i);

    for (int k = 0; k < n; k++)
        cost[k] = f->cost[p->first[i] + k] + s->byte_cost[p->first[i] + k];
    for (int j = f->first_half_edge[i]; j < f->first_half_edge[i + 1]; j++) {
        HalfEdge l = f->half_edge[j], back = {.edge = l.edge, .other = i, .is_a = !l.is_a};
        const int64_t *m = d->message ? d->message + first[l.edge] + (l.is_a ? n : 0) : NULL;
        if (l.other > i) {
            float_problem_add_row(f, i, l, choice[l.other], 1, cost);
            continue;
        }
        for (int k = 0; k < n_alternatives(p, l.other); k++)
            scratch[0][k] = m ? ldexp((double)m[k], -d->shift) : 0;
        float_problem_pass(f, l.other, back, scratch[0], scratch[1]);
        for (int k = 0; k < n; k++)
            cost[k] += scratch[1][k];
    }
}

void search_round_dual(Search *s, const Dual *d, int *choice)
{
    const FloatProblem *f = s->f;
    const Problem *p = f->p;
    Arena *a = arena_new();
    double *cost = arena_array(a, double, f->max_alternatives), *scratch[2];
    int64_t *first = arena_array(a, int64_t, p->n_edges + 1);

    scratch[0] = arena_array(a, double, f->max_alternatives);
    scratch[1] = arena_array(a, double, f->max_alternatives);
    for (int e = 0; e < p->n_edges; e++)
        first[e + 1] = first[e] + edge_messages(p, e);
    for (int i = p->n_nodes - 1; i >= 0; i--) {
        receive_messages(s, d, first, i, choice, scratch, cost);
        choice[i] = 0;
        for (int k = 1; k < n_alternatives(p, i); k++)
            choice[i] = cost[k] < cost[choice[i]] ? k : choice[i];
    }
    arena_free(a);
}

void search_dual_prices(const FloatProblem *f, const Dual *d, double *price)
{
    for (int i = 0; i < d->n_times; i++) {
        int t = float_problem_slot(f, d->time[i]);
        if (t >= 0)
            price[t] += ldexp((double)d->price[i], -d->shift);
    }
}

void search_relax(Search *s, double visits, double scale)
{
    int n = s->f->p->n_nodes;

    for (double left = visits * n; left > 0 && search_goes_on(s);)
        left -= search_tree(s, (TreeMove){search_node(s), n, scale, -1, false});
}
