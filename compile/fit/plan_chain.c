// Lowers the training graph once for each policy of the layers, and joins the stages of these
// programs.
#include "compile/fit/plan_chain.h"

#include "compile/fit/make_program.h"

typedef struct Finding {
    Arena *a;
    const PlanRequest *r;
    const Cluster *c;
    const Graph *train, *predict;
    const ModelPlan *plan;  // NULL: of one rank
    const KeepPath *path;
    Diag *d;
} Finding;

// ---- one policy ----

static int take_chain(Arena *a, void *context, const ProgramChain *x, StageRun **run)
{
    ProgramChain *to = context;

    *to = *x;
    return 0;
}

static Program *lower_policy(const Finding *f, int i, const ChainChoice *chain)
{
    LowerOptions o = request_lowering(f->r);
    RecomputePolicy policy = keep_path_same(f->a, f->path, i);

    o.cluster = f->c;
    o.chain = chain;
    o.overlap_level = chain ? OVERLAP_NONE : OVERLAP_BEST;
    return f->plan ? program_of_model_plan(f->a, f->train, f->plan, &policy, &o, f->d)
                   : program_of_policy(f->a, f->train, f->predict, &policy, &o, f->d);
}

static bool find_chain(const Finding *f, int i, ProgramChain *to)
{
    const ChainChoice choice = {take_chain, to, f->c};

    *to = (ProgramChain){0};
    lower_policy(f, i, &choice);
    return !f->d->errors;
}

// ---- all policies ----

static StagePolicy policy_of(const ChainStage *s)
{
    StagePolicy w = s->policy[0];

    w.more_scratch = s->backward_scratch;
    return w;
}

// Adds the only policy of each stage of `x` to the stages of `to`.
static void add_policy(ChainProblem *to, const ChainProblem *x)
{
    for (int i = 0; i < to->n_stages; i++) {
        ChainStage *s = &to->stage[i];
        const ChainStage *from = &x->stage[i];
        s->forward_scratch =
            from->forward_scratch > s->forward_scratch ? from->forward_scratch : s->forward_scratch;
        s->backward_scratch = from->backward_scratch < s->backward_scratch ? from->backward_scratch
                                                                           : s->backward_scratch;
        s->policy[s->n_policies++] = policy_of(from);
    }
}

static bool has_same_stages(const ChainProblem *x, const ChainProblem *y)
{
    for (int i = 0; i < x->n_stages && x->n_stages == y->n_stages; i++)
        if (strcmp(x->stage[i].name, y->stage[i].name) || x->stage[i].output != y->stage[i].output)
            return false;
    return x->n_stages == y->n_stages;
}

// The program of the first policy gives the stages.
static void begin_policies(Arena *a, ChainProblem *p, int n_policies)
{
    for (int i = 0; i < p->n_stages; i++) {
        StagePolicy *policy = arena_array(a, StagePolicy, n_policies);
        policy[0] = policy_of(&p->stage[i]);
        p->stage[i].policy = policy;
    }
}

// Makes more_scratch of each policy a number on top of the stage's backward_scratch.
static void finish_policies(ChainProblem *p)
{
    for (int i = 0; i < p->n_stages; i++)
        for (int k = 0; k < p->stage[i].n_policies; k++)
            p->stage[i].policy[k].more_scratch -= p->stage[i].backward_scratch;
}

bool plan_chain_find(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                     const Graph *predict, const PlanResult *planned, PlanChain *to, Diag *d)
{
    KeepPath *path = keep_path_find(a, train, r->recompute.rule, r->target, c, d);
    Finding f = {a, r, c, train, predict, NULL, path, d};
    int n_policies = path ? keep_path_policies(path) : 0;
    ModelPlan plan;

    if (planned) {
        plan = plan_of_model(a, train, &planned->made, &planned->planned.plan);
        f.plan = &plan;
    }

    for (int i = 0; i < n_policies; i++) {
        ProgramChain x;
        int64_t other_bytes;
        if (!find_chain(&f, i, &x))
            return false;
        ChainProblem p = chain_of_program(a, &x, &other_bytes);
        if (!i) {
            *to = (PlanChain){.problem = p};
            begin_policies(a, &to->problem, n_policies);
        } else if (has_same_stages(&to->problem, &p)) {
            add_policy(&to->problem, &p);
        } else {
            continue;
        }
        to->other_bytes = other_bytes > to->other_bytes ? other_bytes : to->other_bytes;
    }
    if (!path)
        return false;
    finish_policies(&to->problem);
    Program *none = lower_policy(&f, 0, NULL);
    if (none)
        to->step = program_simulate(none, SET_TRAIN, c).seconds;
    return none;
}
