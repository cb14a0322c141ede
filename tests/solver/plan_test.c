// Tests plans of small graphs against all their plans, with and without limits and pins.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/solver/plan_all.h"

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
        assert_true(find(a, g, &c, &m, INT64_C(1) << 40, none, &p));
        int64_t all = enumerate_plans(a, g, &c, &m, INT64_C(1) << 40, none);
        if (p.answer.cost != all)
            fail_msg("%s, mesh %d, sizes %d: %.0f, not %.0f", g->name, j, l, (double)p.answer.cost,
                     (double)all);
        for (int64_t limit = p.answer.peak - 1, step = 0; step < 3; step++, limit = limit * 4 / 5) {
            int64_t least = enumerate_plans(a, g, &c, &m, limit, none);
            bool is_there = find(a, g, &c, &m, limit, none, &p);
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

static int64_t cost_with(Arena *a, const Pinning *t, Pin pin)
{
    Planned p;

    return find(a, t->g, &t->c, &t->m, t->limit, pin, &p) ? (int64_t)p.answer.cost : INT64_MAX;
}

static void try_pin(Pinning *t, Pin pin)
{
    Arena *a = arena_new();
    int64_t all = enumerate_plans(a, t->g, &t->c, &t->m, t->limit, pin);
    int64_t found = cost_with(a, t, pin);

    if (found != all)
        fail_msg("%s, pin %d of %d: %.0f, not %.0f", t->g->name, (int)pin.kind, (int)pin.id,
                 (double)found, (double)all);
    t->tried++;
    arena_free(a);
}

// The next best alternative makes a plan that costs no less than the best plan, and no more than
// the best plan's entry says.
static void try_next(Pinning *t, const Planned *p, Pin pin, const BestAlternative *next)
{
    Arena *a = arena_new();
    int64_t cost = (int64_t)p->answer.cost;

    pin.spec = next->spec;
    if (next->is_there) {
        int64_t with = cost_with(a, t, pin);
        assert_true(next->cost >= 0 && with >= cost && with <= cost + next->cost);
    }
    arena_free(a);
}

static void pin_value(Arena *a, Pinning *t, const Planned *p, ValueId v)
{
    All all = {.g = t->g, .m = &t->m};
    Spec *spec = arena_array(a, Spec, MAX_ENUMERATED);
    int n = enumerate(&t->m, SPEC_MIN, value_of(t->g, v)->rank, is_spec, &all, v, spec);

    for (int i = 0; i < n; i++)
        try_pin(t, (Pin){.kind = PIN_STORAGE, .id = v, .spec = spec[i], .is_given = true});
    try_next(t, p, (Pin){.kind = PIN_STORAGE, .id = v}, &p->next_storage_spec[v]);
    for (NodeId k = 1; k < t->g->n_nodes; k++)
        for (int i = 0; i < t->g->nodes[k].n_in; i++)
            if (t->g->nodes[k].in[i] == v) {
                Phase phase = t->g->nodes[k].phase;
                Pin pin = {.kind = PIN_COMPUTE, .id = v, .phase = phase};
                pin.spec = p->plan.compute_spec[3 * v + (int)phase];
                try_pin(t, pin);
                try_next(t, p, pin, &p->next_compute_spec[3 * v + (int)phase]);
            }
}

static void pin_node(Arena *a, Pinning *t, const Planned *p, NodeId n)
{
    Strategy *s;
    Rule r;

    node_rule(a, t->g, &t->g->nodes[n], &r);
    for (int i = strategies_of(a, &r, &t->m, &s) - 1; i >= 0; i--)
        try_pin(t, (Pin){.kind = PIN_STRATEGY, .id = n, .spec = s[i]});
    try_next(t, p, (Pin){.kind = PIN_STRATEGY, .id = n}, &p->strategy[n]);
}

// Pins every value to all its storage specs, every node to all its strategies, and every use to
// its compute spec; with unlimited memory, and with less than the cheapest plan needs.
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
        assert_true(find(a, t.g, &t.c, &t.m, t.limit, none, &p));
        t.limit = k % 2 ? p.answer.peak - 1 : t.limit;
        bool is_there = find(a, t.g, &t.c, &t.m, t.limit, none, &p);
        for (ValueId v = 1; v < t.g->n_values && is_there; v++)
            pin_value(a, &t, &p, v);
        for (NodeId n = 1; n < t.g->n_nodes && is_there; n++)
            pin_node(a, &t, &p, n);
        tried += t.tried;
        arena_free(a);
    }
    print_message("%d with a pin\n", tried);
}

static void refused_pins(void **state)
{
    static const int sizes[] = {8, 8, 1};
    const Spec columns = {{1, SPEC_REPLICATED, SPEC_REPLICATED, SPEC_REPLICATED}, {0}};
    const struct {
        Pin pin;
        const char *text;
    } cases[] = {
        {{.kind = PIN_STORAGE, .id = 1, .spec = columns},
         "plan: error: value 'x': no strategy allows the storage spec [-,x0]; the nearest are "
         "[-,-], "
         "[x0,-]\n"},
        {{.kind = PIN_COMPUTE, .id = 1, .phase = UPDATE, .spec = columns},
         "plan: error: value 'x' has a pinned compute spec, but nothing reads it in the update\n"},
        {{.kind = PIN_STRATEGY,
          .id = 1,
          .spec = {{5, SPEC_REPLICATED, SPEC_REPLICATED, SPEC_REPLICATED}, {0}}},
         "plan: error: node 'y' (dot): the pinned strategy is not one of its strategies\n"
         "  in 0  x f32[8,1]\n  in 1  w f32[1,8]\n"},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[0], sizes);
        Cluster c = slow_links(1);
        Mesh m = mesh_of(0, 1e-9);
        Text t = {0};
        Diag d = {.file = "plan", .to = &t};
        PlanOptions o = {.target = &target_cpu,
                         .accumulate = 1,
                         .memory = 1000,
                         .pin = &cases[i].pin,
                         .n_pins = 1};
        Planned p;
        assert_false(plan_find(a, g, &c, &m, &o, &p, &d));
        assert_string_equal(t.s, cases[i].text);
        text_free(&t);
        arena_free(a);
    }
}

// Picoseconds of the best plan in which x, split by rows, is read by columns: as input `at` of a
// concat with `n` inputs, and by the node after it.
static int64_t cost_of_readers(int n, int at)
{
    Arena *a = arena_new();
    Text t = {0};
    Diag d = {.file = "readers"};
    Cluster c = slow_links(1);
    Mesh m = mesh_of(0, 1e-9);
    Pin rows = {.kind = PIN_STORAGE, .id = 1, .spec = spec_replicated(), .is_given = true};
    Planned p;

    rows.spec.at[0] = 0;
    text_printf(&t,
                "graph \"readers\" {\n  input %%x f32[8,8]\n  input %%u f32[8,8]\n"
                "  %%y f32[%d,8] = concat(",
                8 * n);
    for (int i = 0; i < n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", i == at ? "%x" : "%u");
    text_printf(&t, ") axis=0\n  %%e f32[8,8] = cumsum(%%x) axis=0\n  output model \"y\" %%y\n"
                    "  output model \"e\" %%e\n}\n");
    Graph *g = graph_parse(a, t.s, t.n, &d);
    assert_non_null(g);
    assert_true(find(a, g, &c, &m, INT64_C(1) << 40, rows, &p));
    text_free(&t);
    arena_free(a);
    return p.answer.cost;
}

static void readers_share_a_copy(void **state)
{
    assert_int_equal(cost_of_readers(70, 64), cost_of_readers(70, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_share_a_copy), cmocka_unit_test(as_cheap_as_all_plans),
        cmocka_unit_test(pinned_plans), cmocka_unit_test(refused_pins)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
