// Split graphs compute what the whole ones compute: nodes of every operator under every strategy,
// and training steps of the tiny models under random plans, on meshes whose axes divide nothing
// evenly. `partition_test N` tries N plans of each model and mesh instead of the few that always
// run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/plan.h"
#include "tests/ir/sample.h"
#include "tests/lower/models.h"
#include "tests/lower/plans.h"
#include "tests/lower/ranks.h"

// ---- nodes ----

static void fail_at(const char *what, const Plan *p, const Graph *g, ValueId v)
{
    Text t = {0};

    for (int a = 0; a < p->mesh.n_axes; a++)
        text_printf(&t, "%s%d", a ? "x" : "mesh ", p->mesh.size[a]);
    text_printf(&t, ", value %d as ", (int)v);
    spec_print(&p->mesh, value_of(g, v), &p->spec[v], &t);
    fail_msg("%s: %s", what, t.s);
}

// A plan for the sample's graph with that strategy.
static void check_strategy(const Sample *s, const char *text, const Mesh *m,
                           const Strategy *strategy, Dice *d)
{
    Arena *a = arena_new();
    Diag diag = {.file = text};
    Plan p = roll_plan(s->g, m, d, a, NULL, 0, strategy);
    Sharded *sharded = partition(a, s->g, &p, &diag);
    Tensor *whole = arena_array(a, Tensor, s->g->n_values);

    if (!sharded || !graph_verify(sharded->g, &diag))
        fail_at(text, &p, s->g, s->node.out[0]);
    for (int i = 0; i < s->node.n_in; i++)
        whole[s->node.in[i]] = s->in[i];
    graph_eval(s->g, a, whole);
    Crowd c = crowd_eval(sharded, a, whole);
    for (ValueId v = 1; v < sharded->g->n_values; v++) {
        bool same = true;
        Tensor got = join_pieces(&c, v, &same);
        ValueId of = sharded->value[v].of;
        if (!same || !is_near(&got, &whole[of], whole[of].dtype == BF16 ? 1e-2 : 2e-5))
            fail_at(text, &p, s->g, of);
    }
    arena_free(a);
}

// All strategies of a sample, at most about `most` of them.
static int check_sample(const SampleText *t, const Mesh *m, int most, Dice *d)
{
    Sample s = sample_read(t, false);
    Strategy *all;
    Rule r;

    node_rule(s.g, &s.node, s.arena, &r);
    int n = s.node.op->exchange ? 0 : strategies_of(&r, m, s.arena, &all);
    int step = n / most + 1, tried = 0;
    for (int i = 0; i < n; i += step, tried++) {
        int k = i + roll(d, n - i < step ? n - i : step);
        assert_true(strategy_is_legal(&r, m, &all[k]));
        check_strategy(&s, t->node, m, &all[k], d);
    }
    sample_free(&s);
    return tried;
}

static int samples_tried = 24;

static void nodes_of_every_operator(void **state)
{
    Dice d = {1};
    int tried = 0;

    for (int k = 0; k < COUNT(samples); k++) {
        const Mesh large = mesh_of(4, (int[]){2, 2, 3, 2});
        for (int i = 0; i < COUNT(meshes) && samples[k].rule; i++) {
            Mesh m = mesh_of(meshes[i].n_axes, meshes[i].size);
            tried += check_sample(&samples[k], &m, samples_tried, &d);
        }
        if (samples[k].rule)
            tried += check_sample(&samples[k], &large, samples_tried / 4, &d);
    }
    print_message("%d splits of nodes\n", tried);
}

// ---- models ----

static double outputs_error(const Graph *g, const Tensor *got, const Tensor *want, double *most)
{
    double error = 0;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            *most = fmax(*most, norm(&want[i]));
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            error = largest(error, error_of(&got[i], &want[i], *most));
    return error;
}

// Of what lives on: parameters, states, statistics.
static double carried_error(const Crowd *c, const Model *m, double most, bool *same)
{
    const Graph *g = c->s->g;
    double error = 0;

    for (int i = 0; i < g->n_carries; i++) {
        const Tensor *want = &m->value[m->g->carries[i].out];
        Tensor got = join_pieces(c, g->carries[i].out, same);
        if (want->f)
            error = largest(error, error_of(&got, want, most));
    }
    return error;
}

static void compare(const Crowd *c, const Model *m, uint64_t dice)
{
    const Graph *g = m->g;
    Tensor *got = arena_array(c->arena, Tensor, g->n_outputs);
    Tensor *want = arena_array(c->arena, Tensor, g->n_outputs);
    double most = 0;
    bool same = true;

    for (int i = 0; i < g->n_outputs; i++) {
        got[i] = join_pieces(c, c->s->g->outputs[i].value, &same);
        want[i] = m->value[g->outputs[i].value];
    }
    double loss = fabs(loss_of(g, got) / loss_of(g, want) - 1);
    double gradient = outputs_error(g, got, want, &most);
    double carried = carried_error(c, m, most, &same);
    if (!same || !(loss <= 2e-6) || !(gradient <= 1e-5) || (m->is_smooth && !(carried <= 1e-5)))
        fail_msg("%s on %d ranks, dice %" PRIu64 ": loss is off by %.2g, a gradient by %.2g, what "
                 "lives on by %.2g%s",
                 m->name, c->n, dice, loss, gradient, carried, same ? "" : "; ranks differ");
}

// ---- random plans ----

// A model's plans so far: of its factors that can be split, along which axes of which mesh they
// were (a bit for each axis of each mesh), and of its flops, how many in nodes that were split.
typedef struct Tried {
    Seen *seen;
    double flops, split;
} Tried;

static void count_flops(const Graph *g, const Plan *p, Tried *t)
{
    for (NodeId n = 1; n < g->n_nodes; n++) {
        double flops = node_flops(g, &g->nodes[n]);
        bool is_split = false;
        for (int a = 0; a < p->mesh.n_axes; a++)
            is_split |= p->strategy[n].at[a] >= 0 && p->strategy[n].at[a] < MAX_FACTORS;
        t->flops += flops;
        t->split += is_split ? flops : 0;
    }
}

// Splits of factors by axes that came up, and all that there are.
static void count_seen(const Graph *g, const Tried *t, int *seen, int *all)
{
    Arena *a = arena_new();
    Alike alike = alike_find(g, a);

    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Mesh m = {.n_axes = 1, .size = {2}};
        Strategy *one;
        Rule r;
        if (alike.node[n] != n)
            continue;
        node_rule(g, &g->nodes[n], a, &r);
        for (int k = strategies_of(&r, &m, a, &one) - 1; k >= 0; k--)
            for (int i = 0, bit = 0; i < COUNT(meshes); i++)
                for (int axis = 0; axis < meshes[i].n_axes; axis++, bit++) {
                    bool is_factor = one[k].at[0] >= 0 && one[k].at[0] < MAX_FACTORS;
                    *all += is_factor;
                    *seen += is_factor && t->seen[n].axis[one[k].at[0]] >> bit & 1;
                }
    }
    arena_free(a);
}

static void check_plan(const Model *m, int at, Dice *d, Tried *t)
{
    Arena *a = arena_new();
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    uint64_t dice = d->state;
    Diag diag = {.file = m->name};
    int bit = 0;

    for (int i = 0; i < at; i++)
        bit += meshes[i].n_axes;
    Plan p = roll_plan(m->g, &mesh, d, a, t->seen, bit, NULL);
    Sharded *s = partition(a, m->g, &p, &diag);
    if (!s || !graph_verify(s->g, &diag))
        fail_msg("%s, dice %" PRIu64, m->name, dice);
    Crowd c = crowd_eval(s, a, m->value);
    compare(&c, m, dice);
    count_flops(m->g, &p, t);
    arena_free(a);
}

static int plans_tried = 1;    // of each model
static const char *one_model;  // NULL: all

static void steps_of_models(void **state)
{
    int tried = 0;

    for (int i = 0; i < COUNT(models); i++) {
        if (one_model && strcmp(one_model, models[i].name))
            continue;
        Model m = model_new(i);
        Tried t = {.seen = arena_array(m.arena, Seen, m.g->n_nodes)};
        Dice d = {1 + (uint64_t)i};
        int seen = 0, all = 0;
        for (int k = 0; k < plans_tried; k++, tried++)
            check_plan(&m, (i + k) % COUNT(meshes), &d, &t);
        count_seen(m.g, &t, &seen, &all);
        print_message("%s: %d of %d splits of factors by axes; %.0f %% of the flops split\n",
                      m.name, seen, all, 100 * t.split / t.flops);
        arena_free(m.arena);
    }
    print_message("%d plans\n", tried);
}

// ---- plans of the search ----

// A machine so slow that splitting pays, even of tiny models.
static const Cluster slow = {.devices_per_host = 8,
                             .threads = 1,
                             .memory = 1e9,
                             .bandwidth = 1e7,
                             .reading = 1e7,
                             .vector = 1e7};

// False if nothing fits.
static bool check_searched(const Model *m, int at, int64_t limit, Tried *t, int64_t *peak)
{
    Arena *a = arena_new();
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    PlanOptions o = {.accumulate = 1, .memory = limit};
    Diag diag = {.file = m->name};
    Planned p;

    o.solve = (SolveOptions){.gap = 0.05, .threads = 1, .engine = "cbc", .is_quick = true};
    o.solve.programs = "/nowhere";  // bounds by ascent will do
    assert_true(plan_find(m->g, &slow, &mesh, &o, &p, a, NULL));
    bool fits = is_found(p.answer.outcome);
    if (fits) {
        Sharded *s = partition(a, m->g, &p.plan, &diag);
        if (!s || !graph_verify(s->g, &diag))
            fail_msg("%s: the plan doesn't fit", m->name);
        Crowd c = crowd_eval(s, a, m->value);
        compare(&c, m, 0);
        count_flops(m->g, &p.plan, t);
        *peak = p.answer.peak;
    }
    arena_free(a);
    return fits;
}

static void searched_plans(void **state)
{
    int tight = 0;

    for (int i = 0; i < COUNT(models); i++) {
        Model m = model_new(i);
        Tried t = {NULL};
        int64_t peak = 0;
        int at = i % COUNT(meshes);
        assert_true(check_searched(&m, at, INT64_C(1) << 40, &t, &peak));
        tight += check_searched(&m, at, peak * 9 / 10, &t, &peak);
        print_message("%s: %.0f %% of the flops split\n", m.name, 100 * t.split / t.flops);
        arena_free(m.arena);
    }
    print_message("%d at 90 %% of the bytes\n", tight);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_of_every_operator),
                                       cmocka_unit_test(steps_of_models),
                                       cmocka_unit_test(searched_plans)};

    if (argc > 1)
        plans_tried = atoi(argv[1]);
    if (argc > 2)
        one_model = argv[2];
    else if (argc > 1)
        samples_tried = MAX_STRATEGIES;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
