// Tests that sharded training steps of the tiny models compute what the whole ones compute: under
// random plans, plans of the search and all presets, on meshes whose axes divide no size evenly.
// `sharded_test N [MODEL]` tries N random plans of each model on each mesh, and all presets,
// instead of the few plans that always run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/plan/build_problem.h"
#include "tests/ir/sample.h"
#include "tests/lower/models.h"
#include "tests/lower/plans.h"
#include "tests/lower/ranks.h"
#include "tests/sanitized.h"

// ---- one plan ----

static double outputs_error(const Graph *g, const Tensor *got, const Tensor *want, double most)
{
    double error = 0;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            error = largest(error, error_of(&got[i], &want[i], most));
    return error;
}

// The error of the carried values: parameters, states, statistics.
static double carried_error(const RankTensors *c, const Model *m, double most, bool *same)
{
    const Graph *g = c->s->g;
    double error = 0;

    for (int i = 0; i < g->n_carries; i++) {
        const Tensor *want = &m->value[m->g->carries[i].out];
        Tensor got = join_shards(c, g->carries[i].out, same);
        if (want->f)
            error = largest(error, error_of(&got, want, most));
    }
    return error;
}

static void compare(const RankTensors *c, const Model *m, const char *what)
{
    const Graph *g = m->g;
    Tensor *got = arena_array(c->arena, Tensor, g->n_outputs);
    Tensor *want = arena_array(c->arena, Tensor, g->n_outputs);
    double most = largest_gradient(m);
    bool same = true;

    for (int i = 0; i < g->n_outputs; i++) {
        got[i] = join_shards(c, c->s->g->outputs[i].value, &same);
        want[i] = m->value[g->outputs[i].value];
    }
    double loss = fabs(loss_of(g, got) / loss_of(g, want) - 1);
    double gradient = outputs_error(g, got, want, most);
    double carried = carried_error(c, m, most, &same);
    if (!same || !(loss <= 2e-6) || !(gradient <= 1e-5) || (m->is_smooth && !(carried <= 1e-5)))
        fail_msg("%s on %d ranks, %s: loss is off by %.2g, a gradient by %.2g, carried values by "
                 "%.2g%s",
                 m->name, c->n, what, loss, gradient, carried, same ? "" : "; ranks differ");
}

// The plans of a model that were tried. `seen` holds by factor which axes split it, one bit for
// each axis of each mesh; `split` is the part of `flops` in nodes that were split.
typedef struct Tried {
    Seen *seen;
    double flops, split;
    int random, searched, known;  // numbers of plans
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

static void check_plan(const Model *m, const Plan *p, const char *what, Tried *t)
{
    Arena *a = arena_new();
    Diag diag = {.file = m->name};
    Sharded *s = partition(a, m->g, p, &diag);
    s = s ? bucket(a, s) : NULL;

    if (!s || !graph_verify(s->g, &diag))
        fail_msg("%s, %s: can't be split", m->name, what);
    RankTensors c = all_ranks_eval(a, s, m->value);
    compare(&c, m, what);
    count_flops(m->g, p, t);
    arena_free(a);
}

// ---- random plans ----

static void check_random(const Model *m, int at, Dice *d, Tried *t)
{
    Arena *a = arena_new();
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    const char *what = arena_string(a, "dice %" PRIu64, d->state);
    int bit = 0;

    for (int i = 0; i < at; i++)
        bit += meshes[i].n_axes;
    Plan p = roll_plan(a, m->g, &mesh, d, t->seen, bit, NULL);
    check_plan(m, &p, what, t);
    t->random++;
    arena_free(a);
}

// Counts the pairs of factor and axis that plans have split, and all that exist.
static void count_seen(const Graph *g, const Tried *t, int *seen, int *all)
{
    Arena *a = arena_new();
    TiedValues tied = tied_find(a, g);

    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Mesh m = {.n_axes = 1, .size = {2}};
        Strategy *one;
        Rule r;
        if (tied.node[n] != n)
            continue;
        node_rule(a, g, &g->nodes[n], &r);
        for (int k = strategies_of(a, &r, &m, &one) - 1; k >= 0; k--)
            for (int i = 0, bit = 0; i < COUNT(meshes); i++)
                for (int axis = 0; axis < meshes[i].n_axes; axis++, bit++) {
                    bool is_factor = one[k].at[0] >= 0 && one[k].at[0] < MAX_FACTORS;
                    *all += is_factor;
                    *seen += is_factor && t->seen[n].axis[one[k].at[0]] >> bit & 1;
                }
    }
    arena_free(a);
}

// ---- plans of the search ----

// The arena holds at least the plan's predicted peak, less 1/64 for values that are written over
// others.
static void check_rows(Arena *a, const Model *m, const Plan *p, int64_t peak)
{
    enum { PART = 64 };
    Diag d = {.file = m->name};
    const Cluster slow = slow_machine();
    LowerOptions o = {.target = &target_cpu, .fuse = true, .accumulate = 1, .cluster = &slow};
    Sharded *s = partition(a, m->g, p, &d);

    assert_non_null(s);
    o.sharded[SET_TRAIN] = s = bucket(a, s);
    const Program *x = lower(a, s->g, NULL, &o, &d);
    assert_true(x && program_check(x, &d));
    assert_true(x->arena_bytes >= peak - peak / PART);
}

// Checks the cheapest plan that a short search finds among the alternatives in `keep`. Returns its
// peak in bytes; 0 if there is no plan.
static int64_t check_kept(const Model *m, const Mesh *mesh, const PlanProblem *q, const bool *keep,
                          const char *what, Tried *t)
{
    Arena *a = arena_new();
    SolveOptions o = {.gap = 0.05, .threads = 1, .skips_certificate = true, .stops_early = true};
    int *original;
    Problem kept = problem_restrict(a, &q->problem, keep, &original);
    Plan p = {.mesh = *mesh};
    Answer x;

    solve(a, &kept, &o, &x, NULL);
    int64_t peak = is_found(x.outcome) ? x.peak : 0;
    if (peak) {
        for (int i = 0; i < kept.n_nodes; i++)
            x.choice[i] = original[kept.first[i] + x.choice[i]];
        plan_of_choice(a, q, m->g, x.choice, &p);
        check_plan(m, &p, what, t);
        check_rows(a, m, &p, peak);
    }
    arena_free(a);
    return peak;
}

// Checks the search's plan, one within 9/10 of its bytes, and those of all presets that apply, or
// of one of them.
static void check_searched(const Model *m, int at, int only, Tried *t)
{
    Arena *a = arena_new();
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    const Cluster slow = slow_machine();
    PlanOptions o = {
        .target = &target_cpu, .accumulate = 1, .memory = INT64_C(1) << 40, .copies = COPIES_SURE};
    Diag diag = {.file = m->name};
    PlanProblem q;
    LiveRanges live;
    Preset preset[MAX_PRESETS];
    Text name = {0};

    assert_true(live_ranges_find(a, m->g, &target_cpu, o.accumulate, &live, &diag));
    assert_true(plan_build(a, &q, m->g, &slow, &mesh, &o, &live, NULL));
    size_t n = (size_t)q.problem.first[q.problem.n_nodes];
    bool *keep = arena_array(a, bool, n);
    const unsigned *role = preset_roles(a, &q, m->g);
    int n_presets = presets_of(&mesh, true, preset);
    for (int i = 0; i < n_presets; i++) {
        unsigned axes[MAX_AXES];
        memset(keep, true, n);
        if ((only < 0 || only % n_presets == i) && preset_fits(&preset[i], &mesh, axes) &&
            preset_apply(&q, role, axes, keep) &&
            preset_demand(&q, m->g, role, &mesh, axes, keep) < 0) {
            name.n = 0;
            preset_print(&preset[i], &name);
            t->known += check_kept(m, &mesh, &q, keep, name.s, t) > 0;
        }
    }
    memset(keep, true, n);
    int64_t peak = check_kept(m, &mesh, &q, keep, "searched", t);
    q.problem.limit = peak * 9 / 10;
    t->searched += 1 + (check_kept(m, &mesh, &q, keep, "with a limit", t) > 0);
    assert_true(peak > 0);
    text_free(&name);
    arena_free(a);
}

// ---- all of them ----

static Asked asked;  // plans 0: a sample of all plans

static void check_model(int i, Tried *all)
{
    Model m = model_new(i);
    Tried t = {.seen = arena_array(m.arena, Seen, m.g->n_nodes)};
    Dice d = {1 + (uint64_t)i};
    int seen = 0, open = 0;

    for (int k = 0; k < COUNT(meshes); k++) {
        bool is_sample = !asked.plans && k == i % COUNT(meshes);
        for (int r = 0; r < asked.plans || (is_sample && r < 1); r++)
            check_random(&m, k, &d, &t);
        if (asked.plans || is_sample)
            check_searched(&m, k, asked.plans ? -1 : i, &t);
    }
    count_seen(m.g, &t, &seen, &open);
    print_message("%s: %d random plans, %d searched, %d of presets; %d of %d splits of factors by "
                  "axes; %.0f %% of the flops split\n",
                  m.name, t.random, t.searched, t.known, seen, open, 100 * t.split / t.flops);
    all->random += t.random;
    all->searched += t.searched;
    all->known += t.known;
    arena_free(m.arena);
}

enum { EACH = IS_SANITIZED ? 4 : 1 };  // model is tried

static void steps_of_models(void **state)
{
    Tried all = {0};

    for (int i = 0; i < COUNT(models); i += EACH)
        if (is_asked(&asked, i))
            check_model(i, &all);
    print_message("%d random plans, %d searched, %d of presets\n", all.random, all.searched,
                  all.known);
}

// Tests buckets that depend on several iterations: a collective that joins an earlier one of its
// iteration may need another iteration, so all buckets must be made in one order. These plans
// failed once.
static void buckets_of_iterations(void **state)
{
    int i = 0;

    while (strcmp(models[i].name, "lstm"))
        i++;
    Model m = model_new(i);
    for (uint64_t seed = 6; seed < 10; seed++) {
        Arena *a = arena_new();
        Mesh mesh = mesh_of(meshes[2].n_axes, meshes[2].size);
        Diag diag = {.file = m.name};
        Dice d = {seed};
        Plan p = roll_plan(a, m.g, &mesh, &d, arena_array(a, Seen, m.g->n_nodes), 0, NULL);
        Sharded *s = partition(a, m.g, &p, &diag);
        assert_non_null(s);
        assert_true(graph_verify(bucket(a, s)->g, &diag));
        arena_free(a);
    }
    arena_free(m.arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_of_models),
                                       cmocka_unit_test(buckets_of_iterations)};

    asked = asked_of(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
