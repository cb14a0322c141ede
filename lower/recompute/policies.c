// Finds the policies of a layer: minimum cuts for falling prices of running kernels again. The cuts
// are nested. The cuts on the convex hull of (bytes kept, seconds) are the policies of a class
// (parametric flow: Gallo, Grigoriadis and Tarjan 1989).
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "lower/recompute/recompute.h"

typedef struct PolicySearch {
    Recompute r;
    const Cluster *cluster;
    Arena *a;              // of the policies
    int64_t *picoseconds;  // by canonical NodeId: of all iterations; negative: can't run again
    ClassPolicies *to;
    // By policy: the cost of the values kept, and the time of the kernels that run again.
    int64_t *cost, *time;
} PolicySearch;

// ---- prices ----

// Are its results a small part of what it reads? They are kept like sums.
static bool makes_little(const Graph *g, const Node *n)
{
    int64_t most = 0;

    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] && in(g, n, k)->producer && value_bytes(in(g, n, k)) > most)
            most = value_bytes(in(g, n, k));
    int64_t made = 0;
    for (int o = 0; o < n->n_out; o++)
        made += value_bytes(value_of(g, n->out[o]));
    return made < most / READ_PER_LITTLE;
}

static int64_t picoseconds_of(const PolicySearch *s, const Node *n)
{
    const Graph *g = s->r.g;
    Work w = node_work(g, n);
    int64_t length = n->block.cls ? g->classes[n->block.cls].length : 1;

    for (int k = 0; k < n->n_in; k++)
        w.read += node_bytes(g, n, k);
    for (int k = 0; k < n->n_out; k++)
        w.written += node_bytes(g, n, n->n_in + k);
    double all = 1e12 * work_seconds(s->cluster, &w) * (double)length;
    return all < 1e17 ? (int64_t)ceil(all) : (int64_t)1e17;
}

static void find_times(PolicySearch *s)
{
    const Graph *g = s->r.g;
    const bool *is_separator = find_separators(&s->r);

    s->picoseconds = arena_array(s->r.arena, int64_t, g->n_nodes);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        ValueId h = n->n_out ? canonical_of(&s->r, n->out[0]) : 0;
        bool can = !rerun_problem(g, i) && n->block.iter == 0 && h && !s->r.is_source[h] &&
                   !is_separator[h] && !makes_little(g, n);
        s->picoseconds[i] = can ? picoseconds_of(s, n) : -1;
    }
}

// ---- cuts ----

// The price of a picosecond, in units of cost, is the slope of the line through two policies. With
// no line only the least cost counts, and among equal costs the time.
static int64_t *prices_of(const PolicySearch *s, double per_picosecond)
{
    const Graph *g = s->r.g;
    int64_t *price = arena_array(s->r.arena, int64_t, g->n_nodes), all = 0;

    for (NodeId i = 1; i < g->n_nodes; i++)
        all += s->picoseconds[i] > 0 && g->nodes[i].block.cls == s->to->cls ? s->picoseconds[i] : 0;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        double x = (double)s->picoseconds[i] *
                   (per_picosecond > 0 ? per_picosecond : 15 / (double)(all + 1));
        double most = (double)(INT64_MAX / 64 / g->n_nodes);
        bool can = s->picoseconds[i] >= 0 && g->nodes[i].block.cls == s->to->cls;
        price[i] = !can ? -1 : x < most ? (int64_t)x : (int64_t)most;
    }
    return price;
}

// Solves the cut of these prices, and makes a policy of it.
static void make_policy(PolicySearch *s, const int64_t *price, LayerPolicy *w, int64_t *cost,
                        int64_t *time)
{
    const Graph *g = s->r.g;
    bool *is_again = arena_array(s->r.arena, bool, g->n_nodes);
    NodeId *again = arena_array(s->a, NodeId, g->n_nodes);

    *w = (LayerPolicy){.again = again};
    *cost = *time = 0;
    find_kept_values(&s->r, price, is_again);
    for (ValueId h = 1; h < g->n_values; h++)
        *cost += s->r.is_kept[h] ? keep_cost(&s->r, h) : 0;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        if (!is_again[i])
            continue;
        again[w->n_again++] = i;
        *time += s->picoseconds[i];
    }
    w->seconds = 1e-12 * (double)*time;
    w->bytes = *cost / KEEP_COST;
}

static void insert_policy(PolicySearch *s, int at, const LayerPolicy *w, int64_t cost, int64_t time)
{
    size_t n = (size_t)(s->to->n_policies - at);

    memmove(&s->to->policy[at + 1], &s->to->policy[at], n * sizeof *w);
    memmove(&s->cost[at + 1], &s->cost[at], n * sizeof cost);
    memmove(&s->time[at + 1], &s->time[at], n * sizeof time);
    s->to->policy[at] = *w;
    s->cost[at] = cost;
    s->time[at] = time;
    s->to->n_policies++;
}

// Looks for a policy below the line through policies `at` and at + 1, and inserts it between them.
static bool find_between(PolicySearch *s, int at)
{
    double cost = (double)(s->cost[at] - s->cost[at + 1]),
           time = (double)(s->time[at + 1] - s->time[at]);
    int64_t c, t;
    LayerPolicy w;

    if (cost <= 0 || time <= 0)
        return false;
    make_policy(s, prices_of(s, cost / time), &w, &c, &t);
    bool is_between =
        c < s->cost[at] && c > s->cost[at + 1] && t > s->time[at] && t < s->time[at + 1];
    bool is_below = (double)(s->cost[at] - c) * time > (double)(t - s->time[at]) * cost;
    if (is_between && is_below)
        insert_policy(s, at + 1, &w, c, t);
    return is_between && is_below;
}

// The first policy runs no kernel again, the last one keeps the least.
static void search_policies(PolicySearch *s)
{
    const Graph *g = s->r.g;
    int64_t *none = arena_array(s->r.arena, int64_t, g->n_nodes), cost, time;
    LayerPolicy w;

    memset(none, -1, sizeof *none * (size_t)g->n_nodes);
    make_policy(s, none, &w, &cost, &time);
    insert_policy(s, 0, &w, cost, time);
    make_policy(s, prices_of(s, 0), &w, &cost, &time);
    if (cost >= s->cost[0])
        return;
    insert_policy(s, 1, &w, cost, time);
    for (int i = 0; i + 1 < s->to->n_policies && s->to->n_policies < MAX_LAYER_POLICIES;)
        if (!find_between(s, i))
            i++;
}

ClassPolicies *find_policies(Arena *a, const Lowering *l, const Cluster *c)
{
    const Graph *g = l->g;
    Arena *own = l->p->arena;
    Rerun all = {.may = arena_array(own, bool, g->n_nodes),
                 .is_relaxed = arena_array(own, bool, g->n_nodes),
                 .is_outside = arena_array(own, bool, g->n_nodes),
                 .is_handed_on = arena_array(own, bool, g->n_values)};
    ClassPolicies *to = arena_array(a, ClassPolicies, g->n_classes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        all.is_relaxed[i] = true;
        all.is_outside[i] = !g->nodes[i].block.cls;
    }
    const Recompute facts = recompute_facts(l, &all);
    for (int32_t k = 0; k < g->n_classes; k++) {
        PolicySearch s = {.r = facts,
                          .cluster = c ? c : &cluster_assumed,
                          .a = a,
                          .to = &to[k],
                          .cost = arena_array(own, int64_t, MAX_LAYER_POLICIES),
                          .time = arena_array(own, int64_t, MAX_LAYER_POLICIES)};
        to[k] =
            (ClassPolicies){.cls = k, .policy = arena_array(a, LayerPolicy, MAX_LAYER_POLICIES)};
        find_times(&s);
        search_policies(&s);
    }
    return to;
}
