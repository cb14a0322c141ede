// Tests plan files whose recomputation policy was edited. Random plans of the tiny models'
// training steps become valid plans of the graph that the other policy makes, with the same specs
// and strategies.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lower/recompute/policies.h"
#include "solver/plan/follow_plan.h"
#include "tests/lower/models.h"

typedef struct Trial {
    Arena *a;
    Cluster cluster;
    const Graph *model, *graph[N_RECOMPUTE_RULES];  // by rule
    Recomputed made[N_RECOMPUTE_RULES];
    Text said;
    Diag d;
} Trial;

static void trial_begin(Trial *t, const char *name, const char *optimizer, int accumulate)
{
    *t = (Trial){.a = arena_new()};
    t->d = (Diag){.file = "p", .to = &t->said};
    t->model = training_graph(t->a, name, optimizer, accumulate);
    assert_true(cluster_open(t->a, "h100x8", 8, &t->cluster, NULL));
    for (int i = 0; i < N_RECOMPUTE_RULES; i++) {
        t->made[i] = recompute_traced(t->a, t->model, &(RecomputePolicy){(RecomputeRule)i},
                                      &target_cpu, &t->d);
        assert_non_null(t->graph[i] = t->made[i].g);
    }
}

static void trial_end(Trial *t)
{
    text_free(&t->said);
    arena_free(t->a);
}

// The file of a plan, in which the policy is edited.
static PlanFile edited(Trial *t, const Plan *p, RecomputeRule rule)
{
    PlanFile f;

    plan_file_make(t->a, &f, t->graph[p->recompute.rule], &t->cluster, p, 1);
    f.model_hash = graph_hash(t->model);
    f.recompute = recompute_name(rule);
    return f;
}

static bool follow(Trial *t, const PlanFile *f, RecomputeRule rule, FollowedPlan *to)
{
    const PlannedStep step = {t->model, t->made[rule], &(RecomputePolicy){rule}, &t->cluster,
                              &target_cpu};

    return plan_follow(t->a, f, &step, to, &t->d);
}

static Plan random_plan(Trial *t, const char *mesh, RecomputeRule rule, Dice *d)
{
    const Graph *g = t->graph[rule];
    Mesh m;

    assert_true(mesh_parse(t->a, &t->cluster, 8, mesh, &m, NULL));
    Plan p = roll_plan(t->a, g, &m, d, arena_array(t->a, Seen, g->n_nodes), 0, NULL);
    p.recompute.rule = rule;
    return p;
}

// Values that have a name are in both graphs. Checks that they have the same specs in both plans,
// and their nodes the same strategies. Returns how many there are.
static int count_same(const Trial *t, const Plan *p, const Plan *q)
{
    const Graph *g = t->graph[p->recompute.rule], *h = t->graph[q->recompute.rule];
    Map at = {.arena = t->a};
    int n = 0;

    for (ValueId v = 1; v < h->n_values; v++)
        if (value_of(h, v)->name)
            map_set(&at, value_of(h, v)->name, v);
    for (ValueId v = 1; v < g->n_values; v++) {
        const char *name = value_of(g, v)->name;
        ValueId w = name ? map_get(&at, name) : 0;
        if (!w)
            continue;
        assert_true(spec_equal(&p->storage_spec[v], &q->storage_spec[w]));
        if (value_of(g, v)->producer)
            assert_true(spec_equal(&p->strategy[value_of(g, v)->producer],
                                   &q->strategy[value_of(h, w)->producer]));
        n++;
    }
    return n;
}

static void with_another_policy(void **state)
{
    static const char *const meshes_of_8[] = {"8", "2x4", "2x2x2"};
    Dice d = {4321};

    for (int i = 0; i < 2 * COUNT(models); i++) {
        RecomputeRule rule = i % 2 ? RECOMPUTE_NONE : RECOMPUTE_MIN_CUT, other = !rule;
        FollowedPlan there, back;
        Trial t;

        trial_begin(&t, models[i / 2].name, models[i / 2].optimizer, models[i / 2].accumulate);
        Plan p = random_plan(&t, meshes_of_8[i % 3], rule, &d);
        PlanFile f = edited(&t, &p, other);
        if (!follow(&t, &f, other, &there))
            fail_msg("%s: %s", models[i / 2].name, t.said.s);
        assert_true(there.plan.recompute.rule == other && !there.n_pins);
        assert_true(count_same(&t, &p, &there.plan) > 8);
        f = edited(&t, &there.plan, rule);
        assert_true(follow(&t, &f, rule, &back));
        count_same(&t, &p, &back.plan);
        trial_end(&t);
    }
}

static PlanEntry *find_entry(PlanEntry *e, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(e[i].name, name))
            return &e[i];
    fail_msg("no entry '%s'", name);
    return NULL;
}

static void with_pins(void **state)
{
    Dice d = {99};
    FollowedPlan x;
    Trial t;

    trial_begin(&t, "mlp", "sgd", 1);
    Plan p = random_plan(&t, "2x4", RECOMPUTE_MIN_CUT, &d);
    PlanFile f = edited(&t, &p, RECOMPUTE_NONE);
    find_entry(f.value, f.n_values, "2.weight")->pin = true;
    find_entry(f.node, f.n_nodes, "logits")->pin = true;
    assert_true(follow(&t, &f, RECOMPUTE_NONE, &x));
    assert_int_equal(x.n_pins, 2);
    const Graph *g = t.graph[RECOMPUTE_NONE];
    assert_string_equal(value_of(g, x.pin[0].id)->name, "2.weight");
    assert_string_equal(value_of(g, g->nodes[x.pin[1].id].out[0])->name, "logits");
    trial_end(&t);
}

// A comparison that is made again can't be pinned where nothing is.
static void with_pins_of_nothing(void **state)
{
    Dice d = {99};
    FollowedPlan x;
    Trial t;
    int i = 0;

    trial_begin(&t, "mlp", "sgd", 1);
    Plan p = random_plan(&t, "8", RECOMPUTE_MIN_CUT, &d);
    PlanFile f = edited(&t, &p, RECOMPUTE_NONE);
    while (strcmp(f.node[i].kind, "le") || strcmp(f.node[i].phase, "backward"))
        assert_true(++i < f.n_nodes);
    f.node[i].pin = true;
    assert_false(follow(&t, &f, RECOMPUTE_NONE, &x));
    assert_string_equal(t.said.s, arena_string(t.a,
                                               "p: error: '%s' is pinned, but isn't there with "
                                               "recompute 'none'\n",
                                               f.node[i].name));
    trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_another_policy),
        cmocka_unit_test(with_pins),
        cmocka_unit_test(with_pins_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
