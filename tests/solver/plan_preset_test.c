// Tests plans within presets, plans of several meshes, and plans of forward-only graphs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "compile/fit/plan_predictions.h"
#include "tests/solver/plan_all.h"

// ---- presets ----

static bool find_preset(Arena *a, const Graph *g, const Mesh *m, const char *text, Planned *to)
{
    Cluster c = slow_links(1);
    Preset preset;
    Diag d = {.file = "plan"};
    PlanOptions o = {
        .target = &target_cpu, .accumulate = 1, .memory = INT64_C(1) << 40, .preset = &preset};

    o.solve = (SolveOptions){.threads = 1, .seed = 1, .skips_certificate = true};
    assert_true(preset_parse(text, &preset, &d));
    Text t = {0};
    preset_print(&preset, &t);
    assert_string_equal(t.s, text);
    text_free(&t);
    return plan_find(a, g, &c, m, &o, to, NULL);
}

// Checks the parameter's storage spec, and the specs of the product and its gradient, on one axis.
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
        assert_true(find_preset(a, g, &m, cases[i].preset, &p));
        for (int k = 0; k < COUNT(want); k++) {
            Text t = {0};
            spec_print(&m, value_of(g, of[k]), &p.plan.storage_spec[of[k]], &t);
            if (want[k] && strcmp(t.s, want[k]))
                fail_msg("%s: value %d as %s", cases[i].preset, (int)of[k], t.s);
            text_free(&t);
        }
        arena_free(a);
    }
}

// Products are split as the preset demands, even where messages take longer than the split saves.
static void demanding_presets(void **state)
{
    static const struct {
        const char *preset, *forward, *backward;
    } cases[] = {{"ddp", "m:x0", "m:x0"}, {"fsdp", "m:x0", "m:x0"}, {"megatron", "n:x0", "n:x0"}};
    static const int sizes[] = {16, 8, 8};

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[4], sizes);
        Mesh m = mesh_of(0, 1);
        Planned p;
        assert_true(find_preset(a, g, &m, cases[i].preset, &p));
        for (NodeId n = 1; n <= 2; n++) {
            Text t = {0};
            Rule r;
            node_rule(a, g, &g->nodes[n], &r);
            strategy_print(&r, &m, &p.plan.strategy[n], &t);
            assert_string_equal(t.s, n == 1 ? cases[i].forward : cases[i].backward);
            text_free(&t);
        }
        arena_free(a);
    }
}

// A preset that allows more costs no more, and the search is never worse than a preset.
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
        assert_true(find_preset(a, g, &m, order[i / COUNT(graphs)][0], &less));
        assert_true(find_preset(a, g, &m, order[i / COUNT(graphs)][1], &more));
        assert_true(more.answer.cost <= less.answer.cost);
        assert_true(find(a, g, &c, &m, INT64_C(1) << 40, none, &p));
        assert_true(p.answer.cost <= more.answer.cost && p.n_presets > 6);
        for (int k = 0; k < p.n_presets; k++)
            assert_true(p.answer.cost <= p.preset[k].cost);
        arena_free(a);
    }
}

// The cost that a plan reports for a preset is that of the preset's own search, within the
// search's gap. This also holds for presets that take over another preset's plan.
static void presets_beside(void **state)
{
    static const int sizes[] = {16, 12, 6};
    const Pin none = {0};

    for (int i = 0; i < COUNT(graphs); i++) {
        Arena *a = arena_new();
        Graph *g = graph_with(a, graphs[i], sizes);
        Cluster c = slow_links(1);
        Mesh m = mesh_of(3, 1e-9);
        Planned p, alone;
        assert_true(find(a, g, &c, &m, INT64_C(1) << 40, none, &p));
        for (int k = 0; k < p.n_presets; k++) {
            Text t = {0};
            preset_print(&p.preset[k].preset, &t);
            assert_true(find_preset(a, g, &m, t.s, &alone));
            text_free(&t);
            assert_int_equal(p.preset[k].outcome, OUTCOME_PROVED);
            assert_true(p.preset[k].cost >= alone.answer.cost);
            assert_true((double)p.preset[k].cost <= 1.0102 * (double)alone.answer.cost);
        }
        arena_free(a);
    }
}

static void refused_presets(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"fdsp", "expected ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, 2d, 2.5d, "
                 "3d, or several with sizes such as ddp=2,megatron=4"},
        {"", "expected ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, 2d, 2.5d, "
             "3d, or several with sizes such as ddp=2,megatron=4"},
        {"ddp;", "expected ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, 2d, 2.5d, "
                 "3d, or several with sizes such as ddp=2,megatron=4"},
        {"ddp=2,megatron", "expected a size of at least 2 after each name"},
        {"ddp=", "expected a size of at least 2 after each name"},
        {"ddp=1", "expected a size of at least 2 after each name"},
        {"ddp=2,ddp=2,ddp=2,ddp=2,ddp=2", "expected at most 4 presets"},
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

// The search over two meshes of 4 ranks finds the cheaper plan, with limits too, and its bound
// holds for both meshes.
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
        PlanOptions o = {.target = &target_cpu, .accumulate = 1, .memory = INT64_C(1) << 40};
        Diag d = {.file = "plan"};
        Planned p;
        o.solve = (SolveOptions){.threads = 1, .seed = 1, .skips_certificate = true};
        assert_true(plan_search(a, g, &c, m, 2, &o, &p, NULL));
        o.memory = i % 4 ? p.answer.peak * (7 - i % 4) / 6 - 1 : o.memory;
        assert_true(plan_search(a, g, &c, m, 2, &o, &p, NULL));
        int64_t x = enumerate_plans(a, g, &c, &m[0], o.memory, none);
        int64_t y = enumerate_plans(a, g, &c, &m[1], o.memory, none), least = x < y ? x : y;
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

// A parameter has the storage spec of training, and the rest is the cheapest plan around that.
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
        PlanOptions o = {.target = &target_cpu, .accumulate = 1, .memory = INT64_C(1) << 40};
        Planned p;
        assert_true(find_preset(a, training, &m, presets[i], &p));
        o.solve = (SolveOptions){.threads = 1, .seed = 1, .skips_certificate = true};
        const Planned *q = plan_predict(a, NULL, g, training, &p.plan, &c, &o, &d);
        assert_non_null(q);
        Pin pin = {.kind = PIN_STORAGE, .id = 2, .spec = p.plan.storage_spec[2], .is_given = true};
        assert_true(spec_equal(&q->plan.storage_spec[2], &pin.spec) && plan_check(g, &q->plan, &d));
        assert_true(q->answer.cost == enumerate_plans(a, g, &c, &m, INT64_C(1) << 40, pin));
        arena_free(a);
    }
}

// Plans of training that store parameters alike have one plan of predictions, which is found once.
static void repeated_predictions(void **state)
{
    static const int sizes[] = {64, 8, 16};
    static const struct {
        const char *preset;
        int64_t memory;
        int searches;  // up to this row
    } cases[] = {{"ddp", INT64_C(1) << 40, 1},      {"ddp", INT64_C(1) << 40, 1},
                 {"megatron", INT64_C(1) << 40, 2}, {"ddp", INT64_C(1) << 40, 2},
                 {"ddp", INT64_C(1) << 39, 3},      {"megatron", INT64_C(1) << 40, 3}};
    Arena *a = arena_new();
    Graph *training = graph_with(a, graphs[4], sizes);
    Cluster c = slow_links(1);
    Mesh m = mesh_of(0, 1e-9);
    Diag d = {.file = "plan"};
    Predictions all = {0};

    for (int i = 0; i < COUNT(cases); i++) {
        Graph *g = graph_with(a, graphs[0], sizes);
        PlanOptions o = {.target = &target_cpu, .accumulate = 1, .memory = cases[i].memory};
        Planned p;
        int n = 0;
        assert_true(find_preset(a, training, &m, cases[i].preset, &p));
        o.solve = (SolveOptions){.threads = 1, .seed = 1, .skips_certificate = true};
        const Planned *q = plan_predict(a, &all, g, training, &p.plan, &c, &o, &d);
        const Planned *fresh = plan_predict(a, NULL, g, training, &p.plan, &c, &o, &d);
        for (const Prediction *x = all.first; x; x = x->next)
            n++;
        assert_int_equal(n, cases[i].searches);
        for (ValueId v = 1; v < g->n_values; v++)
            assert_true(spec_equal(&q->plan.storage_spec[v], &fresh->plan.storage_spec[v]));
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_presets),     cmocka_unit_test(demanding_presets),
        cmocka_unit_test(presets_in_order), cmocka_unit_test(presets_beside),
        cmocka_unit_test(refused_presets),  cmocka_unit_test(all_meshes),
        cmocka_unit_test(predicted_plans),  cmocka_unit_test(repeated_predictions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
