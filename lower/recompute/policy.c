// Makes the graph of a recomputation policy, and finds the policies of layers that it chooses from.
#include <string.h>

#include "lower/recompute/recompute.h"

// ---- what runs again ----

static const KeepRun *find_run(const RecomputePolicy *p, Block b)
{
    for (int i = 0; i < p->n_runs; i++) {
        const KeepRun *r = &p->run[i];
        if (r->cls == b.cls && (!b.cls || (b.iter >= r->first && b.iter < r->first + r->n_layers)))
            return r;
    }
    return NULL;
}

// By class and position: the node of iteration 0. A node outside of classes represents itself.
static NodeId *find_first_instances(Arena *a, const Graph *g)
{
    ClassTable *table = class_tables(a, g);
    NodeId *first = arena_array(a, NodeId, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        first[i] = b.cls ? table[b.cls].nodes[b.pos] : i;
    }
    return first;
}

// Does another iteration read the value, or what isn't in the class?
static void find_handed_on(const Graph *g, bool *is_handed_on)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            ValueId v = g->nodes[i].in[k];
            Block b = value_block(g, v);
            is_handed_on[v] |= b.cls && !is_same_block(b, g->nodes[i].block);
        }
}

static Rerun rerun_new(Arena *a, const Graph *g)
{
    return (Rerun){.may = arena_array(a, bool, g->n_nodes),
                   .is_relaxed = arena_array(a, bool, g->n_nodes),
                   .is_outside = arena_array(a, bool, g->n_nodes),
                   .is_handed_on = arena_array(a, bool, g->n_values)};
}

// Finds what the policy lets run again. The classes of the graph are whole.
static Rerun find_rerun(Arena *a, const Graph *g, const RecomputePolicy *p)
{
    Rerun r = rerun_new(a, g);
    const NodeId *first = find_first_instances(a, g);

    r.keeps_rest = p->rule == RECOMPUTE_NONE;
    if (r.keeps_rest && !p->n_runs)
        return r;
    find_handed_on(g, r.is_handed_on);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const KeepRun *run = find_run(p, g->nodes[i].block);
        r.is_relaxed[i] = run || (!r.keeps_rest && g->nodes[i].block.cls);
        r.is_outside[i] = run && !run->cls;
        for (int k = 0; run && k < run->n_again && !r.may[i]; k++)
            r.may[i] = run->again[k] == first[i];
    }
    return r;
}

// Splits the rest of a class, which begins with layer `first`, at layer `at`. Returns the rest.
static int32_t split_at(Graph *g, int32_t cls, int *first, int at)
{
    if (at == *first || at == *first + g->classes[cls].length)
        return cls;
    class_split(g, cls, at - *first);
    *first = at;
    return g->n_classes - 1;
}

// Makes each run a class of its own, and so the layers between runs.
static void split_runs(Graph *g, const RecomputePolicy *p)
{
    int32_t cls = 0;
    int first = 0;

    for (int i = 0; i < p->n_runs; i++) {
        const KeepRun *r = &p->run[i];
        if (!i || p->run[i - 1].cls != r->cls) {
            cls = r->cls;
            first = 0;
        }
        if (r->cls) {
            cls = split_at(g, cls, &first, r->first);
            cls = split_at(g, cls, &first, r->first + r->n_layers);
        }
    }
    if (p->n_runs)
        class_compact(g);
}

// ---- the passes that tell how the forward part stores values ----

// Work on a graph whose views and order are known.
typedef bool Analysis(const Lowering *l, void *context, Diag *d);

static bool analyze(Graph *g, const Target *t, Analysis *run, void *context, Diag *d)
{
    const LowerOptions o = {.target = t, .fuse = true, .accumulate = 1};
    bool retries, ok;

    do {
        Program p = {.arena = arena_new(), .target = t};
        Lowering l = lowering_new(&p, SET_TRAIN, g, &o, d);
        ok = lower_layout(&l) && lower_views(&l) && lower_order(&l) && run(&l, context, d);
        retries = l.retries;
        arena_free(p.arena);
    } while (!ok && retries);
    return ok;
}

static bool rewrite(const Lowering *l, void *context, Diag *d)
{
    const Rerun *rerun = context;
    Recompute r = recompute_facts(l, rerun);
    int n_nodes = l->g->n_nodes;
    int64_t *price = arena_array(r.arena, int64_t, n_nodes);
    bool *is_again = arena_array(r.arena, bool, n_nodes);

    for (NodeId i = 1; i < n_nodes; i++)
        price[i] = rerun->may[i] ? 0 : -1;
    find_kept_values(&r, price, is_again);
    return recompute_rebuild(&r, d);
}

Recomputed recompute_traced(Arena *a, const Graph *model, const RecomputePolicy *policy,
                            const Target *t, Diag *d)
{
    Graph *clone = graph_clone(a, model);
    Arena *own = arena_new();
    const Source *tag = tag_nodes(own, clone);
    Rerun rerun = find_rerun(own, model, policy);

    split_runs(clone, policy);
    bool is_same = policy->rule == RECOMPUTE_NONE && !policy->n_runs;
    bool ok = is_same || analyze(clone, t, rewrite, &rerun, d);
    Recomputed r = ok ? find_origins(a, model, clone, tag) : (Recomputed){0};
    arena_free(own);
    return r;
}

Graph *recompute(Arena *a, const Graph *g, const RecomputePolicy *policy, const Target *t, Diag *d)
{
    return recompute_traced(a, g, policy, t, d).g;
}

typedef struct PoliciesAsked {
    Arena *a;
    const Cluster *cluster;
    ClassPolicies *found;
} PoliciesAsked;

static bool ask_policies(const Lowering *l, void *context, Diag *d)
{
    PoliciesAsked *w = context;

    w->found = find_policies(w->a, l, w->cluster);
    return d->errors == 0;
}

ClassPolicies *recompute_policies(Arena *a, const Graph *g, const Target *t, const Cluster *c,
                                  Diag *d)
{
    Arena *own = arena_new();
    Graph *clone = graph_clone(own, g);
    PoliciesAsked w = {.a = a, .cluster = c};
    bool ok = analyze(clone, t, ask_policies, &w, d);

    arena_free(own);
    return ok ? w.found : NULL;
}
