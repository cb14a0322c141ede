// Makes and solves a problem with fewer alternatives.
#include <string.h>

#include "solver/assign/internal.h"

static const double RESTRICTED_GAP_SHARE = 0.1;  // as a part of the options' gap

static void nodes_write(Arena *a, const Problem *p, const bool *keep, int *original, Problem *to)
{
    int n = 0, n_live = 0;

    to->first = arena_array(a, int, p->n_nodes + 1);
    to->cost = arena_array(a, int64_t, p->first[p->n_nodes]);
    to->first_live = arena_array(a, int, p->first[p->n_nodes] + 1);
    to->live = arena_array(a, LiveBytes, p->first_live[p->first[p->n_nodes]]);
    for (int i = 0; i < p->n_nodes; i++) {
        for (int k = p->first[i]; k < p->first[i + 1]; k++) {
            if (!keep[k])
                continue;
            int uses = p->first_live[k + 1] - p->first_live[k];
            original[n] = k - p->first[i];
            to->cost[n] = p->cost[k];
            if (uses)
                memcpy(to->live + n_live, p->live + p->first_live[k],
                       (size_t)uses * sizeof *p->live);
            n_live += uses;
            to->first_live[++n] = n_live;
        }
        to->first[i + 1] = n;
    }
}

static const int64_t *matrix_write(Arena *a, const Problem *p, const Edge *e, const int *original,
                                   const Problem *to)
{
    int n = n_alternatives(to, e->a), m = n_alternatives(to, e->b);
    const int *k = original + to->first[e->a], *l = original + to->first[e->b];

    if (n == n_alternatives(p, e->a) && m == n_alternatives(p, e->b))
        return e->cost;
    int64_t *cost = arena_array(a, int64_t, (size_t)n * (size_t)m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            cost[i * m + j] = edge_cost(p, e, k[i], l[j]);
    return cost;
}

Problem problem_restrict(Arena *a, const Problem *p, const bool *keep, int **original)
{
    Problem to = *p;

    *original = arena_array(a, int, p->first[p->n_nodes]);
    nodes_write(a, p, keep, *original, &to);
    to.edge = arena_array(a, Edge, p->n_edges);
    for (int e = 0; e < p->n_edges; e++) {
        to.edge[e] = p->edge[e];
        to.edge[e].cost = matrix_write(a, p, &p->edge[e], *original, &to);
    }
    return to;
}

int *restricted_choice(Arena *a, const Problem *kept, const int *original, const int *choice)
{
    int *to = arena_array(a, int, kept->n_nodes);

    for (int i = 0; i < kept->n_nodes; i++)
        while (original[kept->first[i] + to[i]] != choice[i])
            to[i]++;
    return to;
}

void solve_restricted(const Problem *p, const bool *keep, const int *start, const SolveOptions *o,
                      Listener l)
{
    Arena *a = arena_new();
    SolveOptions small = *o;
    int *original, *choice = arena_array(a, int, p->n_nodes);
    Problem kept = problem_restrict(a, p, keep, &original);
    Answer answer;

    small.is_single_pass = true;
    small.gap = RESTRICTED_GAP_SHARE * o->gap;
    small.start = start ? restricted_choice(a, &kept, original, start) : NULL;
    small.prices = (Dual){0};
    small.enough = 0;
    small.progress = NULL;
    small.is_verbose = false;
    solve(a, &kept, &small, &answer, NULL);
    for (int i = 0; i < p->n_nodes && is_found(answer.outcome); i++)
        choice[i] = original[kept.first[i] + answer.choice[i]];
    if (is_found(answer.outcome))
        listener_tell(&l, choice, answer.cost);
    arena_free(a);
}
