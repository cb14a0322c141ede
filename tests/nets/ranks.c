// Runs a net's training step on several ranks: shards it by a plan, lowers it, and runs all ranks
// side by side.
#include "solver/plan/build_problem.h"
#include "tests/lower/machines.h"
#include "tests/lower/plans.h"
#include "tests/nets/judge.h"
#include "tests/nets/processes.h"

enum { MAX_RANKS_OF_NETS = 4 };

static Mesh roll_mesh(Dice *d, int most)
{
    static const struct {
        int n, size[2];
    } meshes[] = {{1, {2}}, {1, {3}}, {2, {2, 2}}, {1, {4}}};
    int at = roll(d, most < 3 ? 1 : most < 4 ? 2 : COUNT(meshes));

    return mesh_of(meshes[at].n, meshes[at].size);
}

// Programs are for one target; items alone are the CPU's.
static const Target *target_of(const Task *t)
{
    return t->texts || t->model ? nets_target.target : &target_cpu;
}

// ---- plans ----

// Finds the cheapest plan that a short search finds among the alternatives in `keep`.
static bool find_kept(Arena *a, const Graph *g, const PlanProblem *q, const bool *keep, Plan *p)
{
    SolveOptions o = {.gap = 0.05, .threads = 1, .skips_certificate = true, .stops_early = true};
    int *original;
    Problem kept = problem_restrict(a, &q->problem, keep, &original);
    Answer x;

    solve(a, &kept, &o, &x, NULL);
    if (!is_found(x.outcome))
        return false;
    for (int i = 0; i < kept.n_nodes; i++)
        x.choice[i] = original[kept.first[i] + x.choice[i]];
    plan_of_choice(a, q, g, x.choice, p);
    return true;
}

// Gives the search's plan, or that of a preset that applies.
static bool find_plan(Arena *a, const Graph *g, Dice *d, const Target *target, Plan *p, Diag *diag)
{
    const Cluster slow = slow_machine();
    PlanOptions o = {
        .target = target, .accumulate = 1, .memory = INT64_C(1) << 40, .copies = COPIES_SURE};
    Preset preset[MAX_PRESETS];
    unsigned axes[MAX_AXES];
    PlanProblem q;
    LiveRanges live;

    if (!live_ranges_find(a, g, target, o.accumulate, &live, diag) ||
        !plan_build(a, &q, g, &slow, &p->mesh, &o, &live, NULL))
        return false;
    size_t n = (size_t)q.problem.first[q.problem.n_nodes];
    bool *keep = arena_array(a, bool, n);
    const unsigned *role = preset_roles(a, &q, g);
    int n_presets = presets_of(&p->mesh, true, preset), i = roll(d, n_presets + 1);
    memset(keep, true, n);
    if (i < n_presets &&
        (!preset_fits(&preset[i], &p->mesh, axes) || !preset_apply(&q, role, axes, keep) ||
         preset_demand(&q, g, role, &p->mesh, axes, keep) >= 0))
        memset(keep, true, n);
    return find_kept(a, g, &q, keep, p);
}

// ---- runs ----

static Tensor copy_of(Arena *a, const Tensor *t)
{
    Tensor y = tensor_new(a, t->dtype, t->rank, t->dim);

    memcpy(y.f ? (void *)y.f : y.i, t->f ? (void *)t->f : t->i, 8 * (size_t)tensor_count(t));
    return y;
}

static Tensor read_value(Machines *x, ValueId v, bool *same)
{
    for (int r = 0; r < x->all_ranks.n; r++) {
        Operand o = whole(&x->m[r], v);
        Tensor t = load_shard(&x->m[r], v, &o, 0);
        x->all_ranks.value[r][v] = copy_of(x->all_ranks.arena, &t);
    }
    return join_shards(&x->all_ranks, v, same);
}

// Reads the outputs and carried values. Gradients are taken from the reference, because updates
// may overwrite them; wrong ones show in the updated parameters.
static Result read_all(Machines *x, const Reference *r, bool *same)
{
    const Graph *g = x->all_ranks.s->g;
    Result to = {arena_array(x->all_ranks.arena, Tensor, g->n_outputs + 1),
                 arena_array(x->all_ranks.arena, Tensor, g->n_carries + 1)};

    for (int i = 0; i < g->n_outputs; i++)
        to.output[i] = g->outputs[i].role == OUTPUT_GRADIENT
                           ? r->wide[r->g->outputs[i].value]
                           : read_value(x, g->outputs[i].value, same);
    for (int i = 0; i < g->n_carries; i++)
        if (g->carries[i].scope == SCOPE_STEP)
            to.carried[i] = read_value(x, g->carries[i].in, same);
    return to;
}

// `t->model`: the compiled program; NULL: its items run.
static void run_and_judge(Machines *x, const Program *p, const Reference *r, const Tensor *value,
                          const Task *t, Verdict *v)
{
    bool same = true;

    char *arena[MAX_RANKS_OF_NETS];

    machines_start(x, p, value);
    for (int i = 0; i < x->all_ranks.n; i++)
        arena[i] = x->m[i].bytes;
    if (!t->model)
        run_program(x);
    else if (!run_processes(t->model, arena, x->all_ranks.n))
        verdict_wrong(v, WRONG_C, "a rank didn't end well");
    Result got = read_all(x, r, &same);
    judge_result(r, &got, t->model ? WRONG_C : WRONG_PROGRAM, v);
    if (!same)
        verdict_wrong(v, t->model ? WRONG_C : WRONG_PROGRAM, "ranks differ");
    machines_end(x);
}

static void judge_plan(Arena *a, const Graph *g, const Reference *r, const Tensor *value,
                       const Plan *plan, Dice *dice, const Subject *s, const Task *t, Verdict *v,
                       Diag *d)
{
    // The machines range from slow ones, compared with their links, to ones that finish before any
    // message arrives.
    double rate = pow(10, 3 + roll(dice, 8));
    Cluster cluster = {.bandwidth = rate, .read_bandwidth = rate, .vector = rate};
    double begin = processor_seconds();
    Sharded *split = partition(a, g, plan, d);

    split = split ? bucket(a, split) : NULL;
    LowerOptions o = {.target = target_of(t),
                      .fuse = !s->plain,
                      .accumulate = s->accumulate,
                      .sharded = {split},
                      .cluster = &cluster,
                      .overlap_level = roll(dice, 3)};
    Program *p = split && graph_verify(split->g, d) ? lower(a, split->g, NULL, &o, d) : NULL;
    v->seconds += processor_seconds() - begin;
    if (!p) {
        verdict_refused(v, REFUSED, d->to);
        return;
    }
    if (t->texts)
        net_texts(p, "tcp", t->texts);
    Machines x = machines_new(a, split);
    for (int skew = 0; skew < (t->model ? 1 : 2); skew++) {
        x.exchanges_at_wait = skew;
        run_and_judge(&x, p, r, value, t, v);
    }
    verdict_check(v, p);
}

void judge_ranks(Arena *a, const Subject *s, const Task *t, Verdict *v)
{
    enum { PLANS = 3 };
    bool is_compiled = t->texts || t->model;
    Text said = {0};
    Diag d = {.file = "net", .to = &said};
    Dice dice = {s->numbers + 1};
    Subject once = *s;
    Reference r;

    once.accumulate = 1;
    once.on_ranks = true;
    if (!run_passes(s->train, s, true, true, &d) || !reference_new(a, &r, s->train, &once, &d)) {
        bool is_its_own = said.n && strstr(said.s, "the loss depends on no parameter");
        verdict_refused(v, is_its_own ? NO_NET : REFUSED, &said);
        text_free(&said);
        return;
    }
    const Graph *g = s->train;
    if (t->model && nets_target.begin)
        nets_target.begin(s->numbers);
    Tensor *value = numbers_all(a, g, &once, 0);
    graph_eval(a, g, value);
    if (!reference_fits(&r, s->precision))
        verdict_wrong(v, NO_NET, "its numbers are too large for f32");
    for (int k = is_compiled ? (int)(s->numbers % PLANS) : 0; k < PLANS && !v->outcome; k++) {
        Plan plan = {.mesh = roll_mesh(&dice, t->ranks)};
        double begin = processor_seconds();
        bool is_found = k > 0 && find_plan(a, g, &dice, target_of(t), &plan, &d);
        v->seconds += processor_seconds() - begin;
        if (!is_found)
            plan = roll_plan(a, g, &plan.mesh, &dice, arena_array(a, Seen, g->n_nodes), 0, NULL);
        judge_plan(a, g, &r, value, &plan, &dice, s, t, v, &d);
        v->compared += is_found;
        if (v->outcome)
            verdict_add(v, is_found ? "; plan found" : "; random plan");
        if (is_compiled)
            break;
    }
    text_free(&said);
}
