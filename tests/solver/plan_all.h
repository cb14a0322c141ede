// Small graphs and all their plans. Strategies and specs are enumerated without the search's own
// lists. Costs and bytes are added up as the cost model says.
#ifndef SHARDCC_TESTS_SOLVER_PLAN_ALL_H
#define SHARDCC_TESTS_SOLVER_PLAN_ALL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "solver/plan/plan.h"

static const char *const graphs[] = {
    "graph \"product\" {\n"
    "  input %x f32[M,K]\n  parameter %w f32[K,N]\n"
    "  %y f32[M,N] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
    "  output model \"y\" %y\n}\n",

    "graph \"two\" {\n"
    "  input %x f32[M,K]\n  parameter %w f32[K,N]\n  parameter %u f32[N,K]\n"
    "  %y f32[M,N] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
    "  %z f32[M,K] = dot(%y, %u) eq=\"mn,nk->mk\"\n"
    "  output model \"z\" %z\n}\n",

    "graph \"shared\" {\n"
    "  input %x f32[M,K]\n  parameter %w f32[K,N]\n  parameter %u f32[K,N]\n"
    "  %a f32[M,N] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
    "  %b f32[M,N] = dot(%x, %u) eq=\"mk,kn->mn\"\n"
    "  %c f32[M,N] = add(%a, %b)\n"
    "  output model \"c\" %c\n}\n",

    "graph \"rows\" {\n"
    "  input %x f32[M,K]\n  parameter %w f32[K,N]\n"
    "  %y f32[M,N] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
    "  %e f32[M,N] = exp(%y)\n"
    "  %s f32[M] = reduce_sum(%e) axes=[1]\n"
    "  output model \"s\" %s\n}\n",

    "graph \"update\" training {\n"
    "  input %x f32[M,K]\n  parameter %w f32[K,N]\n"
    "  %y f32[M,N] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
    "  %g f32[K,N] = dot(%x, %y) eq=\"mk,mn->kn\" backward\n"
    "  %v f32[K,N] = sub(%w, %g) update\n"
    "  output model \"y\" %y\n"
    "  carry step %w %v\n}\n",
};

static const struct {
    int n_axes, size[MAX_AXES];
} meshes[] = {{1, {2}}, {1, {3}}, {1, {4}}, {2, {2, 2}}};

static inline Graph *graph_with(Arena *a, const char *text, const int size[3])
{
    Text t = {0};
    Diag d = {.file = "graph"};

    for (const char *c = text; *c; c++) {
        const char *at = (*c == 'M' || *c == 'N' || *c == 'K') ? strchr("MNK", *c) : NULL;
        if (at)
            text_printf(&t, "%d", size[at - "MNK"]);
        else
            text_put(&t, c, 1);
    }
    Graph *g = graph_parse(a, t.s, t.n, &d);
    text_free(&t);
    return g;
}

// ---- enumeration ----

typedef struct All {
    const Graph *g;
    const Cluster *c;
    const Mesh *m;
    Resharder *layouts[2];  // [is_bucketed]: of values whose collectives are bucketed
    bool *is_bucketed;
    Traffic traffic;
    int64_t limit;
    Pin pin;                      // .id 0: no pin
    Rule rule[8];                 // by node
    Strategy *strategy[8], s[8];  // by node: all of them, and the one being tried
    int n_strategies[8];
    int64_t *workspaces[8], workspace[8];  // by node: workspace bytes of each, of the one being
                                           // tried
    int like[12];                          // by value: the value it is carried from
    Spec *spec[12];                        // by value: all of them
    int64_t *cost[12];                     // by value: the cost of each as its storage spec
    int n_specs[12];
    Spec at[12];
    bool is_stored[12];               // by value: has bytes of its own
    int begin[12], end[12], n_items;  // by value: live in the items [begin, end)
    int item[8];                      // by node: the item that computes it; -1: none
    int64_t best;
} All;

enum { MAX_ENUMERATED = 4096 };

#define NOT_ALLOWED (INT64_C(1) << 50)

// Lists the specs or strategies that `is_right` accepts, of all that `at` in [low, high) and
// `level` allow. Returns their number.
static inline int enumerate(const Mesh *m, int low, int high,
                            bool (*is_right)(const All *, int, const Spec *), const All *all,
                            int id, Spec *to)
{
    int n = 0, width = (high - low) * MAX_AXES;
    int64_t total = (int64_t)pow(width, m->n_axes);

    for (int64_t i = 0; i < total; i++) {
        Spec s = spec_replicated();
        int64_t next_storage_spec = i;
        for (int a = 0; a < m->n_axes; a++, next_storage_spec /= width) {
            s.at[a] = (int8_t)(low + next_storage_spec % width / MAX_AXES);
            s.level[a] = (int8_t)(next_storage_spec % width % MAX_AXES);
        }
        if (is_right(all, id, &s)) {
            assert_true(n < MAX_ENUMERATED);
            to[n++] = s;
        }
    }
    return n;
}

static inline bool is_pinned(const All *all, PinKind kind, int id, int phase)
{
    return all->pin.id == id && all->pin.kind == kind &&
           (kind != PIN_COMPUTE || phase == (int)all->pin.phase);
}

static inline bool is_strategy(const All *all, int id, const Spec *s)
{
    return strategy_is_legal(&all->rule[id], all->m, s) &&
           (!is_pinned(all, PIN_STRATEGY, id, 0) || spec_equal(s, &all->pin.spec));
}

static inline bool is_spec(const All *all, int id, const Spec *s)
{
    const Value *v = value_of(all->g, id);
    bool is_output = false;

    for (int i = 0; i < all->g->n_outputs; i++)
        is_output |= all->g->outputs[i].value == id;
    for (int i = 0; i < all->g->n_carries; i++)
        is_output |= all->g->carries[i].out == id;
    return spec_is_valid(all->m, v->rank, s) &&
           (spec_partial(s) == SPEC_REPLICATED || (v->producer && !is_output));
}

static inline int64_t path(const All *all, ValueId v, Spec from, Spec to)
{
    const ReshardPath *w;

    reshard_paths(all->layouts[all->is_bucketed[v]], value_of(all->g, v), from, to, &w);
    return w->picoseconds;
}

// The cost of storing value v in the given spec: the reshard paths from its producer and to its
// readers. The readers of a phase share a compute spec where that is cheaper.
static inline int64_t rest_cost(const All *all, ValueId v, Spec next_storage_spec)
{
    int64_t cost = 0;

    if (is_pinned(all, PIN_STORAGE, v, 0) && !spec_equal(&next_storage_spec, &all->pin.spec))
        return NOT_ALLOWED;
    for (int phase = 0; phase < 3; phase++) {
        Spec need[8];
        int n = 0;
        for (NodeId k = 1; k < all->g->n_nodes; k++)
            for (int i = 0; i < all->g->nodes[k].n_in; i++)
                if (all->g->nodes[k].in[i] == v && (int)all->g->nodes[k].phase == phase)
                    need[n++] = strategy_spec(&all->rule[k], &all->s[k], i);
        bool pinned = is_pinned(all, PIN_COMPUTE, v, phase), is_free = n > 1 || pinned;
        int64_t least = is_free ? INT64_MAX : n ? path(all, v, next_storage_spec, need[0]) : 0;
        for (int u = 0; u < (pinned ? 1 : all->n_specs[v]) && is_free; u++) {
            Spec compute_spec = pinned ? all->pin.spec : all->spec[v][u];
            int64_t sum = path(all, v, next_storage_spec, compute_spec);
            for (int i = 0; i < n; i++)
                sum += path(all, v, compute_spec, need[i]);
            least = sum < least ? sum : least;
        }
        cost += least;
    }
    NodeId made = value_of(all->g, v)->producer;
    if (made)
        cost += path(all, v, strategy_spec(&all->rule[made], &all->s[made], all->rule[made].n_in),
                     next_storage_spec);
    return cost;
}

// Finds when each value is in memory and each node runs, from the items of the program for one
// rank. These graphs have no loops. A value is live from the first item that names it to the last.
static inline void find_items(Arena *a, All *all)
{
    const LowerOptions o = {.target = &target_cpu, .fuse = true, .accumulate = 1};
    Diag d = {.file = "graph"};
    Text t = {0};

    graph_print(all->g, &t);
    Graph *g = graph_parse(a, t.s, t.n, &d);
    const Program *p = lower(a, g, NULL, &o, &d);
    const Set *s = &p->set[SET_TRAIN];
    assert_true(program_check(p, &d));
    text_free(&t);
    all->n_items = s->n_items;
    for (NodeId n = 1; n < all->g->n_nodes; n++) {
        all->item[n] = -1;
        for (int i = 0; i < s->n_items; i++)
            for (int k = 0; k < s->items[i].n_nodes; k++)
                all->item[n] = s->items[i].nodes[k] == n ? i : all->item[n];
    }
    for (ValueId v = 1; v < all->g->n_values; v++) {
        bool is_made = value_of(g, v)->producer, is_first = is_made;
        bool is_kept = !is_made && value_of(g, v)->kind != VALUE_INPUT;
        all->begin[v] = 0;
        all->end[v] = is_kept ? s->n_items : 0;
        for (int i = 0; i < s->n_items; i++)
            for (int k = 0; k < s->items[i].n_in + s->items[i].n_out; k++) {
                if (s->items[i].operands[k].base != v)
                    continue;
                all->begin[v] = is_first ? i : all->begin[v];
                all->end[v] = i + 1 > all->end[v] ? i + 1 : all->end[v];
                is_first = false;
            }
        for (int k = 0; k < s->items[all->begin[v]].n_in && is_made; k++) {
            ValueId from = s->items[all->begin[v]].operands[k].base;
            all->begin[v] += s->storage[from].buffer == s->storage[v].buffer;
        }
        for (int i = 0; i < g->n_outputs; i++)
            if (g->outputs[i].value == v)
                all->end[v] = s->n_items;
        all->is_stored[v] = s->storage[v].buffer;
    }
}

static inline int64_t buffer_room(int64_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

// Do the bytes fit at every item? They are the live values, except those written over the value
// they are carried from, and the item's workspaces.
static inline bool fits(const All *all)
{
    for (int now = 0; now < all->n_items; now++) {
        int64_t bytes = 0;
        for (ValueId v = 1; v < all->g->n_values; v++)
            if (all->like[v] == v && all->is_stored[v] && all->begin[v] <= now && now < all->end[v])
                bytes += buffer_room(spec_bytes(all->m, &all->at[v], value_of(all->g, v)));
        for (NodeId n = 1; n < all->g->n_nodes; n++)
            bytes += all->item[n] == now && all->workspace[n] ? buffer_room(all->workspace[n]) : 0;
        if (bytes > all->limit)
            return false;
    }
    return true;
}

static inline void try_values(All *all, ValueId v, int64_t cost)
{
    if (cost >= all->best)
        return;
    if (v == all->g->n_values) {
        all->best = fits(all) ? cost : all->best;
        return;
    }
    if (all->like[v] != v) {
        try_values(all, v + 1, cost);
        return;
    }
    for (int i = 0; i < all->n_specs[v]; i++) {
        all->at[v] = all->spec[v][i];
        try_values(all, v + 1, cost + all->cost[v][i]);
    }
}

static inline void try_nodes(All *all, NodeId n, int64_t cost)
{
    if (n < all->g->n_nodes) {
        Work whole = node_work(all->g, &all->g->nodes[n]);
        for (int i = 0; i < all->n_strategies[n]; i++) {
            all->s[n] = all->strategy[n][i];
            all->workspace[n] = all->workspaces[n][i];
            Work w = shard_work(all->g, &all->g->nodes[n], &whole, &all->traffic, &all->rule[n],
                                all->m, &all->s[n]);
            double call = w.written > 0 ? 0 : all->c->launch;
            try_nodes(all, n + 1, cost + llround(1e12 * (work_seconds(all->c, &w) - call)));
        }
        return;
    }
    int64_t least = cost;
    for (ValueId v = 1; v < all->g->n_values; v++) {
        int64_t cheapest = INT64_MAX;
        for (int i = 0; i < all->n_specs[v]; i++) {
            all->cost[v][i] = rest_cost(all, v, all->spec[v][i]);
            for (ValueId u = v + 1; u < all->g->n_values; u++)
                if (all->like[u] == v)
                    all->cost[v][i] += rest_cost(all, u, all->spec[v][i]);
            cheapest = all->cost[v][i] < cheapest ? all->cost[v][i] : cheapest;
        }
        least += all->like[v] == v ? cheapest : 0;
    }
    if (least < all->best)
        try_values(all, 1, cost);
}

// The least cost of any plan; INT64_MAX if none fits into `limit`.
static inline int64_t enumerate_plans(Arena *a, const Graph *g, const Cluster *c, const Mesh *m,
                                      int64_t limit, Pin pin)
{
    All *all = arena_array(a, All, 1);

    *all = (All){.g = g, .c = c, .m = m, .limit = limit, .pin = pin, .best = INT64_MAX};
    all->layouts[false] = resharder_new(a, m);
    all->layouts[true] = resharder_new_bucketed(a, m);
    const TiedValues tied = tied_find(a, g);
    all->is_bucketed = values_bucketed(a, g, &tied);
    all->traffic = traffic_find(a, g);
    find_items(a, all);
    for (ValueId v = 1; v < g->n_values; v++) {
        all->like[v] = v;
        for (int i = 0; i < g->n_carries; i++)
            all->like[v] = g->carries[i].out == v ? g->carries[i].in : all->like[v];
        all->spec[v] = arena_array(a, Spec, MAX_ENUMERATED);
        all->n_specs[v] =
            enumerate(m, SPEC_MIN, value_of(g, v)->rank, is_spec, all, v, all->spec[v]);
        all->cost[v] = arena_array(a, int64_t, all->n_specs[v]);
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        node_rule(a, g, &g->nodes[n], &all->rule[n]);
        all->strategy[n] = arena_array(a, Strategy, MAX_ENUMERATED);
        all->n_strategies[n] =
            enumerate(m, LINEAR_JOINT, LINEAR_SINGLE + 3, is_strategy, all, n, all->strategy[n]);
        all->workspaces[n] = arena_array(a, int64_t, all->n_strategies[n]);
        for (int i = 0; i < all->n_strategies[n]; i++)
            all->workspaces[n][i] = shard_workspace(&target_cpu, g, &g->nodes[n], &all->rule[n], m,
                                                    &all->strategy[n][i]);
    }
    try_nodes(all, 1, 0);
    return all->best < NOT_ALLOWED ? all->best : INT64_MAX;
}

// ---- against the search ----

static inline Cluster slow_links(double ratio)
{
    Cluster c = {.devices_per_host = 4,
                 .threads = 1,
                 .memory = 1e9,
                 .bandwidth = 1e9,
                 .read_bandwidth = 1e9,
                 .launch = 1e-7,
                 .vector = 1e8 * ratio};
    return c;
}

static inline Mesh mesh_of(int i, double beta)
{
    static const char *const names[] = {"x0", "x1", "x2", "x3"};
    Mesh m = {.n_axes = meshes[i].n_axes};

    for (int a = 0; a < m.n_axes; a++) {
        m.size[a] = meshes[i].size[a];
        m.name[a] = names[a];
        m.alpha[a] = 1e-7 / (1 + a);
        m.beta[a] = beta / (1 + a);
    }
    return m;
}

static inline bool find(Arena *a, const Graph *g, const Cluster *c, const Mesh *m, int64_t limit,
                        Pin pin, Planned *to)
{
    PlanOptions o = {.target = &target_cpu,
                     .accumulate = 1,
                     .memory = limit,
                     .pin = &pin,
                     .n_pins = pin.id != 0};
    Diag d = {.file = "plan"};

    o.solve = (SolveOptions){.threads = 1, .seed = 1, .skips_certificate = true};
    assert_true(plan_find(a, g, c, m, &o, to, &d));
    assert_true(!to->answer.choice || to->answer.outcome == OUTCOME_INFEASIBLE ||
                plan_check(g, &to->plan, &d));
    assert_true(!to->answer.choice || to->compute + to->communication == to->answer.cost ||
                to->answer.outcome == OUTCOME_INFEASIBLE);
    return to->answer.outcome != OUTCOME_INFEASIBLE;
}

#endif
