// Orders the steps of all classes from policy to policy by their slopes. The policies of a class
// are a convex hull, so its own steps stay in their order.
#include "compile/fit/keep_path.h"

#include <stdlib.h>

static int by_slope(const void *a, const void *b)
{
    const KeepStep *x = a, *y = b;

    if (x->slope != y->slope)
        return x->slope < y->slope ? -1 : 1;
    return x->cls != y->cls ? x->cls - y->cls : x->policy - y->policy;
}

static int layers_of(const Graph *g, int32_t cls) { return cls ? g->classes[cls].length : 1; }

KeepPath *keep_path_find(Arena *a, const Graph *g, RecomputeRule rule, const Target *t,
                         const Cluster *c, Diag *d)
{
    ClassPolicies *classes = recompute_policies(a, g, t, c, d);
    KeepPath *x = arena_array(a, KeepPath, 1);
    KeepStep *step = NULL;
    int cap = 0;

    if (!classes)
        return NULL;
    *x = (KeepPath){.g = g, .classes = classes, .rule = rule};
    for (int32_t k = 0; k < g->n_classes; k++)
        for (int i = 1; i < classes[k].n_policies; i++) {
            const LayerPolicy *from = &classes[k].policy[i - 1], *to = &classes[k].policy[i];
            *arena_push(a, step, x->n_steps, cap) = (KeepStep){
                .cls = k,
                .policy = i,
                .n_layers = layers_of(g, k),
                .slope = (to->seconds - from->seconds) /
                         (double)(from->bytes > to->bytes ? from->bytes - to->bytes : 1)};
            x->last_index += layers_of(g, k);
        }
    if (x->n_steps)
        qsort(step, (size_t)x->n_steps, sizeof *step, by_slope);
    x->step = step;
    return x;
}

int keep_path_begin(const KeepPath *x, int i)
{
    int index = 0;

    for (int k = 0; k < i; k++)
        index += x->step[k].n_layers;
    return index;
}

double keep_path_seconds(const KeepPath *x, int index)
{
    double seconds = 0;

    for (int i = 0; i < x->n_steps && index > 0; i++) {
        const KeepStep *s = &x->step[i];
        const LayerPolicy *to = &x->classes[s->cls].policy[s->policy];
        int n = index < s->n_layers ? index : s->n_layers;
        seconds += (to->seconds - to[-1].seconds) * n / s->n_layers;
        index -= n;
    }
    return seconds;
}

static void add_run(const KeepPath *x, int32_t cls, int policy, int first, int n,
                    RecomputePolicy *p, KeepRun *run)
{
    const LayerPolicy *w = &x->classes[cls].policy[policy];

    if (policy && n)
        run[p->n_runs++] = (KeepRun){.cls = cls,
                                     .first = first,
                                     .n_layers = cls ? n : 0,
                                     .again = w->again,
                                     .n_again = w->n_again};
}

// The layers of a class that keep more come last.
RecomputePolicy keep_path_at(Arena *a, const KeepPath *x, int index)
{
    KeepRun *run = arena_array(a, KeepRun, 2 * (size_t)x->g->n_classes);
    RecomputePolicy p = {.rule = x->rule, .run = run};
    int *policy = arena_array(a, int, x->g->n_classes), *n = arena_array(a, int, x->g->n_classes);

    for (int i = 0; i < x->n_steps && index > 0; i++) {
        const KeepStep *s = &x->step[i];
        policy[s->cls] = s->policy;
        n[s->cls] = index < s->n_layers ? index : s->n_layers;
        index -= n[s->cls];
    }
    for (int32_t k = 0; k < x->g->n_classes; k++) {
        int length = layers_of(x->g, k);
        if (!policy[k])
            continue;
        add_run(x, k, policy[k], 0, n[k], &p, run);
        add_run(x, k, policy[k] - 1, n[k], length - n[k], &p, run);
    }
    return p;
}

RecomputePolicy keep_path_pure(Arena *a, const KeepPath *x, const int *policy)
{
    KeepRun *run = arena_array(a, KeepRun, x->g->n_classes);
    RecomputePolicy p = {.rule = x->rule, .run = run};

    for (int32_t k = 0; k < x->g->n_classes; k++)
        add_run(x, k, policy[k], 0, layers_of(x->g, k), &p, run);
    return p;
}

int keep_path_policies(const KeepPath *x)
{
    int n = 1;

    for (int32_t k = 0; k < x->g->n_classes; k++)
        n = x->classes[k].n_policies > n ? x->classes[k].n_policies : n;
    return n;
}

RecomputePolicy keep_path_same(Arena *a, const KeepPath *x, int i)
{
    int *policy = arena_array(a, int, x->g->n_classes);

    for (int32_t k = 0; k < x->g->n_classes; k++)
        policy[k] = i < x->classes[k].n_policies ? i : x->classes[k].n_policies - 1;
    return keep_path_pure(a, x, policy);
}

const KeepStep *keep_path_step(const KeepPath *x, int index)
{
    int i = 0;

    while (i < x->n_steps - 1 && keep_path_begin(x, i + 1) < index)
        i++;
    return &x->step[i];
}
