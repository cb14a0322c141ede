// The matrix of an edge whose costs are cheapest paths through a Metric.
#include "solver/assign/internal.h"

static int64_t add_steps(int64_t x, int64_t y)
{
    return is_forbidden(x) || is_forbidden(y) || is_forbidden(x + y) ? COST_FORBIDDEN : x + y;
}

// All cheapest paths, by Floyd and Warshall: the graph is small, and most pairs are needed.
static int64_t *all_paths(Arena *a, int n, const PathStep *step, int n_steps)
{
    int64_t *cost = arena_array(a, int64_t, (size_t)n * (size_t)n);

    for (int i = 0; i < n * n; i++)
        cost[i] = i / n == i % n ? 0 : COST_FORBIDDEN;
    for (int i = 0; i < n_steps; i++) {
        int64_t *c = &cost[step[i].from * n + step[i].to];
        *c = step[i].cost < *c ? step[i].cost : *c;
    }
    for (int m = 0; m < n; m++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int64_t x = add_steps(cost[i * n + m], cost[m * n + j]);
                cost[i * n + j] = x < cost[i * n + j] ? x : cost[i * n + j];
            }
    return cost;
}

const int64_t *metric_matrix(Arena *a, const Metric *m, const int *of_a, int n_a, const int *of_b,
                             int n_b)
{
    Arena *scratch = arena_new();
    const int64_t *path = all_paths(scratch, m->n_points, m->step, m->n_steps);
    int64_t *cost = arena_array(a, int64_t, (size_t)n_a * (size_t)n_b);

    for (int k = 0; k < n_a; k++)
        for (int l = 0; l < n_b; l++)
            cost[k * n_b + l] = path[of_a[k] * m->n_points + of_b[l]];
    arena_free(scratch);
    return cost;
}
