// Orders the steps of all classes from way to way by what they cost. As the ways of a class are a
// convex hull, its own steps stay in their order.
#include "compile/fit/keep_path.h"

#include <stdlib.h>

static int by_slope(const void *a, const void *b)
{
    const KeepStep *x = a, *y = b;

    if (x->slope != y->slope)
        return x->slope < y->slope ? -1 : 1;
    return x->cls != y->cls ? x->cls - y->cls : x->way - y->way;
}

static int layers_of(const Graph *g, int32_t cls) { return cls ? g->classes[cls].length : 1; }

KeepPath *keep_path_find(Arena *a, const Graph *g, RecomputeRule rule, const Target *t,
                         const Cluster *c, Diag *d)
{
    ClassWays *ways = recompute_ways(a, g, t, c, d);
    KeepPath *x = arena_array(a, KeepPath, 1);
    KeepStep *step = NULL;
    int cap = 0;

    if (!ways)
        return NULL;
    *x = (KeepPath){.g = g, .ways = ways, .rule = rule};
    for (int32_t k = 0; k < g->n_classes; k++)
        for (int w = 1; w < ways[k].n_ways; w++) {
            const Way *from = &ways[k].way[w - 1], *to = &ways[k].way[w];
            *arena_push(a, step, x->n_steps, cap) = (KeepStep){
                .cls = k,
                .way = w,
                .n_layers = layers_of(g, k),
                .slope = (to->seconds - from->seconds) /
                         (double)(from->bytes > to->bytes ? from->bytes - to->bytes : 1)};
            x->n_places += layers_of(g, k);
        }
    if (x->n_steps)
        qsort(step, (size_t)x->n_steps, sizeof *step, by_slope);
    x->step = step;
    return x;
}

int keep_path_begin(const KeepPath *x, int i)
{
    int place = 0;

    for (int k = 0; k < i; k++)
        place += x->step[k].n_layers;
    return place;
}

double keep_path_seconds(const KeepPath *x, int place)
{
    double seconds = 0;

    for (int i = 0; i < x->n_steps && place > 0; i++) {
        const KeepStep *s = &x->step[i];
        const Way *to = &x->ways[s->cls].way[s->way];
        int n = place < s->n_layers ? place : s->n_layers;
        seconds += (to->seconds - to[-1].seconds) * n / s->n_layers;
        place -= n;
    }
    return seconds;
}

static void add_run(const KeepPath *x, int32_t cls, int way, int first, int n, RecomputePolicy *p,
                    KeepRun *run)
{
    const Way *w = &x->ways[cls].way[way];

    if (way && n)
        run[p->n_runs++] = (KeepRun){.cls = cls,
                                     .first = first,
                                     .n_layers = cls ? n : 0,
                                     .again = w->again,
                                     .n_again = w->n_again};
}

// The layers of a class that keep more come last.
RecomputePolicy keep_path_at(Arena *a, const KeepPath *x, int place)
{
    KeepRun *run = arena_array(a, KeepRun, 2 * (size_t)x->g->n_classes);
    RecomputePolicy p = {.rule = x->rule, .run = run};
    int *way = arena_array(a, int, x->g->n_classes), *n = arena_array(a, int, x->g->n_classes);

    for (int i = 0; i < x->n_steps && place > 0; i++) {
        const KeepStep *s = &x->step[i];
        way[s->cls] = s->way;
        n[s->cls] = place < s->n_layers ? place : s->n_layers;
        place -= n[s->cls];
    }
    for (int32_t k = 0; k < x->g->n_classes; k++) {
        int length = layers_of(x->g, k);
        if (!way[k])
            continue;
        add_run(x, k, way[k], 0, n[k], &p, run);
        add_run(x, k, way[k] - 1, n[k], length - n[k], &p, run);
    }
    return p;
}

RecomputePolicy keep_path_pure(Arena *a, const KeepPath *x, const int *way)
{
    KeepRun *run = arena_array(a, KeepRun, x->g->n_classes);
    RecomputePolicy p = {.rule = x->rule, .run = run};

    for (int32_t k = 0; k < x->g->n_classes; k++)
        add_run(x, k, way[k], 0, layers_of(x->g, k), &p, run);
    return p;
}

int keep_path_ways(const KeepPath *x)
{
    int n = 1;

    for (int32_t k = 0; k < x->g->n_classes; k++)
        n = x->ways[k].n_ways > n ? x->ways[k].n_ways : n;
    return n;
}

RecomputePolicy keep_path_way(Arena *a, const KeepPath *x, int w)
{
    int *way = arena_array(a, int, x->g->n_classes);

    for (int32_t k = 0; k < x->g->n_classes; k++)
        way[k] = w < x->ways[k].n_ways ? w : x->ways[k].n_ways - 1;
    return keep_path_pure(a, x, way);
}

const KeepStep *keep_path_step(const KeepPath *x, int place)
{
    int i = 0;

    while (i < x->n_steps - 1 && keep_path_begin(x, i + 1) < place)
        i++;
    return &x->step[i];
}
