// Plans of small graphs against all plans there are: strategies and specs enumerated without the
// search's own lists, costs and bytes added up as the cost model says.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/plan.h"
#include "tests/solver/programs.h"

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

static Graph *graph_with(Arena *a, const char *text, const int size[3])
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

// ---- all there is ----

typedef struct All {
    const Graph *g;
    const Cluster *c;
    const Mesh *m;
    Layouts *layouts;
    Traffic traffic;
    int64_t limit;
    Pin pin;                      // .id 0: none
    Rule rule[8];                 // by node
    Strategy *strategy[8], s[8];  // by node: all, and the one that is tried
    int n_strategies[8];
    int like[12];       // by value: the one that it is carried from
    Spec *spec[12];     // by value: all
    int64_t *cost[12];  // … what it costs to rest so
    int n_specs[12];
    Spec at[12];
    int64_t best;
} All;

enum { MOST_ENUMERATED = 4096 };

#define NOT_ALLOWED (INT64_C(1) << 50)

// Every filling of a Spec with what axes can be, whatever it is a spec of.
static int enumerate(const Mesh *m, int low, int high,
                     bool (*is_right)(const All *, int, const Spec *), const All *all, int id,
                     Spec *to)
{
    int n = 0, width = (high - low) * MAX_AXES;
    int64_t total = (int64_t)pow(width, m->n_axes);

    for (int64_t i = 0; i < total; i++) {
        Spec s = spec_whole();
        int64_t rest = i;
        for (int a = 0; a < m->n_axes; a++, rest /= width) {
            s.at[a] = (int8_t)(low + rest % width / MAX_AXES);
            s.level[a] = (int8_t)(rest % width % MAX_AXES);
        }
        if (is_right(all, id, &s)) {
            assert_true(n < MOST_ENUMERATED);
            to[n++] = s;
        }
    }
    return n;
}

static bool is_pinned(const All *all, PinKind kind, int id, int phase)
{
    return all->pin.id == id && all->pin.kind == kind &&
           (kind != PIN_USE || phase == (int)all->pin.phase);
}

static bool is_strategy(const All *all, int id, const Spec *s)
{
    return strategy_is_legal(&all->rule[id], all->m, s) &&
           (!is_pinned(all, PIN_STRATEGY, id, 0) || spec_equal(s, &all->pin.spec));
}

static bool is_spec(const All *all, int id, const Spec *s)
{
    const Value *v = value_of(all->g, id);
    bool is_output = false;

    for (int i = 0; i < all->g->n_outputs; i++)
        is_output |= all->g->outputs[i].value == id;
    for (int i = 0; i < all->g->n_carries; i++)
        is_output |= all->g->carries[i].out == id;
    return spec_is_valid(all->m, v->rank, s) &&
           (spec_partial(s) == SPEC_WHOLE || (v->producer && !is_output));
}

static int64_t way(const All *all, ValueId v, Spec from, Spec to)
{
    const Way *w;

    layout_ways(all->layouts, value_of(all->g, v), from, to, &w);
    return w->picoseconds;
}

// What it costs that value v rests as `rest`: readers of a phase share what they read, if that is
// cheaper by way of some spec.
static int64_t rest_cost(const All *all, ValueId v, Spec rest)
{
    int64_t cost = 0;

    if (is_pinned(all, PIN_REST, v, 0) && !spec_equal(&rest, &all->pin.spec))
        return NOT_ALLOWED;
    for (int phase = 0; phase < 3; phase++) {
        Spec need[8];
        int n = 0;
        for (NodeId k = 1; k < all->g->n_nodes; k++)
            for (int i = 0; i < all->g->nodes[k].n_in; i++)
                if (all->g->nodes[k].in[i] == v && (int)all->g->nodes[k].phase == phase)
                    need[n++] = strategy_spec(&all->rule[k], &all->s[k], i);
        bool pinned = is_pinned(all, PIN_USE, v, phase), is_free = n > 1 || pinned;
        int64_t least = is_free ? INT64_MAX : n ? way(all, v, rest, need[0]) : 0;
        for (int u = 0; u < (pinned ? 1 : all->n_specs[v]) && is_free; u++) {
            Spec use = pinned ? all->pin.spec : all->spec[v][u];
            int64_t sum = way(all, v, rest, use);
            for (int i = 0; i < n; i++)
                sum += way(all, v, use, need[i]);
            least = sum < least ? sum : least;
        }
        cost += least;
    }
    NodeId made = value_of(all->g, v)->producer;
    if (made)
        cost +=
            way(all, v, strategy_spec(&all->rule[made], &all->s[made], all->rule[made].n_in), rest);
    return cost;
}

// Bytes at each node, of what isn't written over another.
static bool fits(const All *all)
{
    for (NodeId now = 0; now < all->g->n_nodes; now++) {
        int64_t bytes = 0;
        for (ValueId v = 1; v < all->g->n_values; v++) {
            NodeId made = value_of(all->g, v)->producer, last = made ? 0 : all->g->n_nodes;
            for (NodeId k = 1; k < all->g->n_nodes; k++)
                for (int i = 0; i < all->g->nodes[k].n_in; i++)
                    last = all->g->nodes[k].in[i] == v && k > last ? k : last;
            for (int i = 0; i < all->g->n_outputs; i++)
                last = all->g->outputs[i].value == v ? all->g->n_nodes : last;
            if (all->like[v] == v && all->traffic.is_stored[v] && made <= now && now <= last)
                bytes += spec_bytes(all->m, &all->at[v], value_of(all->g, v));
        }
        if (bytes > all->limit)
            return false;
    }
    return true;
}

static void try_values(All *all, ValueId v, int64_t cost)
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

static void try_nodes(All *all, NodeId n, int64_t cost)
{
    if (n < all->g->n_nodes) {
        Work whole = node_work(all->g, &all->g->nodes[n]);
        for (int i = 0; i < all->n_strategies[n]; i++) {
            all->s[n] = all->strategy[n][i];
            Work w = piece_work(all->g, &all->g->nodes[n], &whole, &all->traffic, &all->rule[n],
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

// The least cost, INT64_MAX if nothing fits.
static int64_t enumerate_plans(const Graph *g, const Cluster *c, const Mesh *m, int64_t limit,
                               Pin pin, Arena *a)
{
    All *all = arena_array(a, All, 1);

    *all = (All){.g = g, .c = c, .m = m, .limit = limit, .pin = pin, .best = INT64_MAX};
    all->layouts = layouts_new(a, m);
    all->traffic = traffic_find(g, a);
    for (ValueId v = 1; v < g->n_values; v++) {
        all->like[v] = v;
        for (int i = 0; i < g->n_carries; i++)
            all->like[v] = g->carries[i].out == v ? g->carries[i].in : all->like[v];
        all->spec[v] = arena_array(a, Spec, MOST_ENUMERATED);
        all->n_specs[v] =
            enumerate(m, SPEC_MIN, value_of(g, v)->rank, is_spec, all, v, all->spec[v]);
        all->cost[v] = arena_array(a, int64_t, all->n_specs[v]);
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        node_rule(g, &g->nodes[n], a, &all->rule[n]);
        all->strategy[n] = arena_array(a, Strategy, MOST_ENUMERATED);
        all->n_strategies[n] =
            enumerate(m, LINEAR_JOINT, LINEAR_SINGLE + 3, is_strategy, all, n, all->strategy[n]);
    }
    try_nodes(all, 1, 0);
    return all->best < NOT_ALLOWED ? all->best : INT64_MAX;
}

// ---- against the search ----

static Cluster slow_links(double ratio)
{
    Cluster c = {.devices_per_host = 4,
                 .threads = 1,
                 .memory = 1e9,
                 .bandwidth = 1e9,
                 .reading = 1e9,
                 .launch = 1e-7,
                 .vector = 1e8 * ratio};
    return c;
}

static Mesh mesh_of(int i, double beta)
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

static bool find(const Graph *g, const Cluster *c, const Mesh *m, int64_t limit, Pin pin, Arena *a,
                 Planned *to)
{
    PlanOptions o = {.accumulate = 1, .memory = limit, .pin = &pin, .n_pins = pin.id != 0};
    Diag d = {.file = "plan"};

    o.solve = (SolveOptions){
        .threads = 1, .seed = 1, .engine = "cbc", .programs = programs(a), .is_quick = true};
    assert_true(plan_find(g, c, m, &o, to, a, &d));
    assert_true(!to->answer.choice || to->answer.outcome == OUTCOME_INFEASIBLE ||
                plan_check(g, &to->plan, &d));
    assert_true(!to->answer.choice || to->compute + to->communication == to->answer.cost ||
                to->answer.outcome == OUTCOME_INFEASIBLE);
    return to->answer.outcome != OUTCOME_INFEASIBLE;
}

static void as_cheap_as_all_plans(void **state)
{
    static const int sizes[][3] = {{8, 8, 8}, {5, 7, 3}, {16, 2, 6}};
    const Pin none = {0};
    int tried = 0, tight = 0, infeasible = 0;

    for (int k = 0; k < COUNT(graphs) * COUNT(meshes) * COUNT(sizes) * 2; k++) {
        int i = k % COUNT(graphs), j = k / COUNT(graphs) % COUNT(meshes);
        int l = k / COUNT(graphs) / COUNT(meshes) % COUNT(sizes);
        bool is_slow = k >= COUNT(graphs) * COUNT(meshes) * COUNT(sizes);
        if (meshes[j].n_axes > 1 && i > 0)
            continue;
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[i], sizes[l]);
        Cluster c = slow_links(is_slow ? 30 : 1);
        Mesh m = mesh_of(j, is_slow ? 2e-8 : 1e-9);
        Planned p;
        assert_non_null(g);
        assert_true(find(g, &c, &m, INT64_C(1) << 40, none, a, &p));
        int64_t all = enumerate_plans(g, &c, &m, INT64_C(1) << 40, none, a);
        if (p.answer.cost != all)
            fail_msg("%s, mesh %d, sizes %d: %.0f, not %.0f", g->name, j, l, (double)p.answer.cost,
                     (double)all);
        for (int64_t limit = p.answer.peak - 1, step = 0; step < 3; step++, limit = limit * 4 / 5) {
            int64_t least = enumerate_plans(g, &c, &m, limit, none, a);
            bool is_there = find(g, &c, &m, limit, none, a, &p);
            if (is_there != (least < INT64_MAX) || (is_there && p.answer.cost != least))
                fail_msg("%s, mesh %d, sizes %d, limit %.0f: %d %.0f, not %.0f", g->name, j, l,
                         (double)limit, is_there, (double)p.answer.cost, (double)least);
            assert_true(!is_there || p.answer.peak <= limit);
            tight += is_there;
            infeasible += !is_there;
        }
        tried++;
        arena_free(a);
    }
    print_message("%d without a limit, %d with one, %d where nothing fits\n", tried, tight,
                  infeasible);
}

// ---- pins ----

typedef struct Pinning {
    const Graph *g;
    Cluster c;
    Mesh m;
    int64_t limit;
    int tried;
} Pinning;

static int64_t cost_with(const Pinning *t, Pin pin, Arena *a)
{
    Planned p;

    return find(t->g, &t->c, &t->m, t->limit, pin, a, &p) ? (int64_t)p.answer.cost : INT64_MAX;
}

static void try_pin(Pinning *t, Pin pin)
{
    Arena *a = arena_new();
    int64_t all = enumerate_plans(t->g, &t->c, &t->m, t->limit, pin, a);
    int64_t found = cost_with(t, pin, a);

    if (found != all)
        fail_msg("%s, pin %d of %d: %.0f, not %.0f", t->g->name, (int)pin.kind, (int)pin.id,
                 (double)found, (double)all);
    t->tried++;
    arena_free(a);
}

// What stands next costs no less than the plan, and no more than the plan says.
static void try_next(Pinning *t, const Planned *p, Pin pin, const Next *next)
{
    Arena *a = arena_new();
    int64_t cost = (int64_t)p->answer.cost;

    pin.spec = next->spec;
    if (next->is_there) {
        int64_t with = cost_with(t, pin, a);
        assert_true(next->cost >= 0 && with >= cost && with <= cost + next->cost);
    }
    arena_free(a);
}

static void pin_value(Pinning *t, const Planned *p, ValueId v, Arena *a)
{
    All all = {.g = t->g, .m = &t->m};
    Spec *spec = arena_array(a, Spec, MOST_ENUMERATED);
    int n = enumerate(&t->m, SPEC_MIN, value_of(t->g, v)->rank, is_spec, &all, v, spec);

    for (int i = 0; i < n; i++)
        try_pin(t, (Pin){.kind = PIN_REST, .id = v, .spec = spec[i], .is_given = true});
    try_next(t, p, (Pin){.kind = PIN_REST, .id = v}, &p->rest[v]);
    for (NodeId k = 1; k < t->g->n_nodes; k++)
        for (int i = 0; i < t->g->nodes[k].n_in; i++)
            if (t->g->nodes[k].in[i] == v) {
                Phase phase = t->g->nodes[k].phase;
                Pin pin = {.kind = PIN_USE, .id = v, .phase = phase};
                pin.spec = p->plan.use[3 * v + (int)phase];
                try_pin(t, pin);
                try_next(t, p, pin, &p->use[3 * v + (int)phase]);
            }
}

static void pin_node(Pinning *t, const Planned *p, NodeId n, Arena *a)
{
    Strategy *s;
    Rule r;

    node_rule(t->g, &t->g->nodes[n], a, &r);
    for (int i = strategies_of(&r, &t->m, a, &s) - 1; i >= 0; i--)
        try_pin(t, (Pin){.kind = PIN_STRATEGY, .id = n, .spec = s[i]});
    try_next(t, p, (Pin){.kind = PIN_STRATEGY, .id = n}, &p->strategy[n]);
}

// Every value at rest and every node pinned to all that it might be, every use to what it is; with
// all the memory there is, and with less than the cheapest plan holds.
static void pinned_plans(void **state)
{
    static const int sizes[] = {8, 4, 6};
    const Pin none = {0};
    int tried = 0;

    for (int k = 0; k < 2 * COUNT(graphs); k++) {
        Arena *a = arena_new();
        Pinning t = {graph_with(a, graphs[k / 2], sizes), slow_links(1), mesh_of(0, 1e-9),
                     INT64_C(1) << 40, 0};
        Planned p;
        assert_true(find(t.g, &t.c, &t.m, t.limit, none, a, &p));
        t.limit = k % 2 ? p.answer.peak - 1 : t.limit;
        bool is_there = find(t.g, &t.c, &t.m, t.limit, none, a, &p);
        for (ValueId v = 1; v < t.g->n_values && is_there; v++)
            pin_value(&t, &p, v, a);
        for (NodeId n = 1; n < t.g->n_nodes && is_there; n++)
            pin_node(&t, &p, n, a);
        tried += t.tried;
        arena_free(a);
    }
    print_message("%d with a pin\n", tried);
}

static void refused_pins(void **state)
{
    static const int sizes[] = {8, 8, 1};
    const Spec columns = {{1, SPEC_WHOLE, SPEC_WHOLE, SPEC_WHOLE}, {0}};
    const struct {
        Pin pin;
        const char *text;
    } cases[] = {
        {{.kind = PIN_REST, .id = 1, .spec = columns},
         "plan: error: value 'x': no strategy has it as [-,x0] at rest; the nearest are [-,-], "
         "[x0,-]\n"},
        {{.kind = PIN_USE, .id = 1, .phase = UPDATE, .spec = columns},
         "plan: error: value 'x' is pinned in use, but nothing reads it in the update\n"},
        {{.kind = PIN_STRATEGY, .id = 1, .spec = {{5, SPEC_WHOLE, SPEC_WHOLE, SPEC_WHOLE}, {0}}},
         "plan: error: node 'y' (dot): it has no such strategy as is pinned\n"
         "  in 0  x f32[8,1]\n  in 1  w f32[1,8]\n"},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[0], sizes);
        Cluster c = slow_links(1);
        Mesh m = mesh_of(0, 1e-9);
        Text t = {0};
        Diag d = {.file = "plan", .to = &t};
        PlanOptions o = {.accumulate = 1, .memory = 1000, .pin = &cases[i].pin, .n_pins = 1};
        Planned p;
        assert_false(plan_find(g, &c, &m, &o, &p, a, &d));
        assert_string_equal(t.s, cases[i].text);
        text_free(&t);
        arena_free(a);
    }
}

// ---- presets ----

static bool find_preset(const Graph *g, const Mesh *m, const char *text, Arena *a, Planned *to)
{
    Cluster c = slow_links(1);
    Preset preset;
    Diag d = {.file = "plan"};
    PlanOptions o = {.accumulate = 1, .memory = INT64_C(1) << 40, .preset = &preset};

    o.solve = (SolveOptions){
        .threads = 1, .seed = 1, .engine = "cbc", .programs = programs(a), .is_quick = true};
    assert_true(preset_parse(text, &preset, &d));
    Text t = {0};
    preset_print(&preset, &t);
    assert_string_equal(t.s, text);
    text_free(&t);
    return plan_find(g, &c, m, &o, to, a, NULL);
}

// Where the parameter rests, and what the product and its gradient split, on one axis.
static void kept_presets(void **state)
{
    static const struct {
        const char *preset, *parameter, *made, *gradient;
    } cases[] = {
        {"ddp", "[-,-]", "[x0,-]", NULL},
        {"zero1", "[-,-]", "[x0,-]", NULL},
        {"fsdp", NULL, "[x0,-]", NULL},
        {"megatron", "[-,x0]", "[-,x0]", "[-,x0]"},
    };
    static const int sizes[] = {64, 8, 16};

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[4], sizes);
        Mesh m = mesh_of(0, 1e-9);
        const char *want[] = {cases[i].parameter, cases[i].made, cases[i].gradient};
        const ValueId of[] = {2, g->nodes[1].out[0], g->nodes[2].out[0]};
        Planned p;
        assert_true(find_preset(g, &m, cases[i].preset, a, &p));
        for (int k = 0; k < COUNT(want); k++) {
            Text t = {0};
            spec_print(&m, value_of(g, of[k]), &p.plan.spec[of[k]], &t);
            if (want[k] && strcmp(t.s, want[k]))
                fail_msg("%s: value %d as %s", cases[i].preset, (int)of[k], t.s);
            text_free(&t);
        }
        arena_free(a);
    }
}

// What may do more costs no more, and the search never loses.
static void presets_in_order(void **state)
{
    static const char *const order[][2] = {{"ddp", "zero1"},
                                           {"zero1", "zero2"},
                                           {"zero2", "fsdp"},
                                           {"megatron", "megatron-sp"},
                                           {"ddp=2,megatron=2", "zero1=2,megatron=2"},
                                           {"ddp=4", "ddp"}};
    static const int sizes[] = {16, 12, 6};
    const Pin none = {0};

    for (int i = 0; i < COUNT(graphs) * COUNT(order); i++) {
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[i % COUNT(graphs)], sizes);
        Cluster c = slow_links(1);
        Mesh m = mesh_of(3, 1e-9);
        Planned p, less, more;
        assert_true(find_preset(g, &m, order[i / COUNT(graphs)][0], a, &less));
        assert_true(find_preset(g, &m, order[i / COUNT(graphs)][1], a, &more));
        assert_true(more.answer.cost <= less.answer.cost);
        assert_true(find(g, &c, &m, INT64_C(1) << 40, none, a, &p));
        assert_true(p.answer.cost <= more.answer.cost && p.n_presets > 6);
        for (int k = 0; k < p.n_presets; k++)
            assert_true(p.answer.cost <= p.preset[k].cost);
        arena_free(a);
    }
}

static void refused_presets(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"fdsp", "a name of ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, 2d, 2.5d and "
                 "3d, or several with sizes, as in ddp=2,megatron=4"},
        {"", "a name of ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, 2d, 2.5d and "
             "3d, or several with sizes, as in ddp=2,megatron=4"},
        {"ddp;", "a name of ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, 2d, 2.5d and "
                 "3d, or several with sizes, as in ddp=2,megatron=4"},
        {"ddp=2,megatron", "a size of 2 or more behind each name"},
        {"ddp=", "a size of 2 or more behind each name"},
        {"ddp=1", "a size of 2 or more behind each name"},
        {"ddp=2,ddp=2,ddp=2,ddp=2,ddp=2", "at most 4 of them"},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Text t = {0}, want = {0};
        Diag d = {.file = "plan", .to = &t};
        Preset p;
        assert_false(preset_parse(cases[i].text, &p, &d));
        text_printf(&want, "plan: error: preset '%s': %s\n", cases[i].text, cases[i].error);
        assert_string_equal(t.s, want.s);
        text_free(&t);
        text_free(&want);
    }
}

// ---- meshes ----

// The cheapest of two meshes of 4 ranks, with limits too, and its bound is that of both.
static void all_meshes(void **state)
{
    static const int sizes[][3] = {{8, 6, 4}, {4, 16, 8}, {12, 2, 3}};
    const Pin none = {0};
    int found = 0;

    for (int i = 0; i < 4 * COUNT(sizes); i++) {
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[0], sizes[i / 4]);
        Cluster c = slow_links(1);
        Mesh m[] = {mesh_of(2, 1e-9), mesh_of(3, 2e-9)};
        PlanOptions o = {.accumulate = 1, .memory = INT64_C(1) << 40};
        Diag d = {.file = "plan"};
        Planned p;
        o.solve = (SolveOptions){
            .threads = 1, .seed = 1, .engine = "cbc", .programs = programs(a), .is_quick = true};
        assert_true(plan_search(g, &c, m, 2, &o, &p, a, NULL));
        o.memory = i % 4 ? p.answer.peak * (7 - i % 4) / 6 - 1 : o.memory;
        assert_true(plan_search(g, &c, m, 2, &o, &p, a, NULL));
        int64_t x = enumerate_plans(g, &c, &m[0], o.memory, none, a);
        int64_t y = enumerate_plans(g, &c, &m[1], o.memory, none, a), least = x < y ? x : y;
        bool is_there = p.answer.outcome != OUTCOME_INFEASIBLE;
        if (is_there != (least < INT64_MAX) || (is_there && p.answer.cost != least))
            fail_msg("limit %.0f: %.0f, not %.0f", (double)o.memory, (double)p.answer.cost,
                     (double)least);
        assert_true(!is_there || (p.answer.outcome == OUTCOME_PROVED && p.answer.bound == least &&
                                  plan_check(g, &p.plan, &d)));
        assert_true(p.n_searched + p.n_excluded == 2 && !p.n_left_out);
        found += is_there;
        arena_free(a);
    }
    print_message("%d found on two meshes\n", found);
}

// ---- forward only ----

// The parameter rests as in training, and what is done around it is the cheapest then.
static void predicted_plans(void **state)
{
    static const int sizes[] = {64, 8, 16};
    static const char *const presets[] = {"ddp", "fsdp", "megatron"};

    for (int i = 0; i < COUNT(presets); i++) {
        Arena *a = arena_new();
        Graph *training = graph_with(a, graphs[4], sizes), *g = graph_with(a, graphs[0], sizes);
        Cluster c = slow_links(1);
        Mesh m = mesh_of(0, 1e-9);
        Diag d = {.file = "plan"};
        PlanOptions o = {.accumulate = 1, .memory = INT64_C(1) << 40};
        Planned p, q;
        assert_true(find_preset(training, &m, presets[i], a, &p));
        o.solve = (SolveOptions){
            .threads = 1, .seed = 1, .engine = "cbc", .programs = programs(a), .is_quick = true};
        assert_true(plan_predict(g, training, &p.plan, &c, &o, &q, a, &d));
        Pin pin = {.kind = PIN_REST, .id = 2, .spec = p.plan.spec[2], .is_given = true};
        assert_true(spec_equal(&q.plan.spec[2], &pin.spec) && plan_check(g, &q.plan, &d));
        assert_true(q.answer.cost == enumerate_plans(g, &c, &m, INT64_C(1) << 40, pin, a));
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_cheap_as_all_plans),
                                       cmocka_unit_test(pinned_plans),
                                       cmocka_unit_test(refused_pins),
                                       cmocka_unit_test(kept_presets),
                                       cmocka_unit_test(presets_in_order),
                                       cmocka_unit_test(refused_presets),
                                       cmocka_unit_test(all_meshes),
                                       cmocka_unit_test(predicted_plans)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
