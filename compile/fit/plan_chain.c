// Lowers the training graph once for each way of keeping, and puts the stages of these programs
// together.
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

// ---- one way ----

static int take_chain(Arena *a, void *context, const ProgramChain *x, StageRun **run)
{
    ProgramChain *to = context;

    *to = *x;
    return 0;
}

static Program *lower_way(const Finding *f, int w, const ChainChoice *chain)
{
    LowerOptions o = request_lowering(f->r);
    RecomputePolicy policy = keep_path_way(f->a, f->path, w);

    o.cluster = f->c;
    o.chain = chain;
    o.overlap_level = chain ? OVERLAP_NONE : OVERLAP_BEST;
    return f->plan ? program_of_model_plan(f->a, f->train, f->plan, &policy, &o, f->d)
                   : program_of_policy(f->a, f->train, f->predict, &policy, &o, f->d);
}

static bool find_way(const Finding *f, int w, ProgramChain *to)
{
    const ChainChoice choice = {take_chain, to, f->c};

    *to = (ProgramChain){0};
    lower_way(f, w, &choice);
    return !f->d->errors;
}

// ---- all ways ----

static ChainWay way_of(const ChainStage *s)
{
    ChainWay w = s->way[0];

    w.more_scratch = s->backward_scratch;
    return w;
}

// Adds the only way of each stage of `x` to the stages of `to`.
static void add_way(ChainProblem *to, const ChainProblem *x)
{
    for (int i = 0; i < to->n_stages; i++) {
        ChainStage *s = &to->stage[i];
        const ChainStage *from = &x->stage[i];
        s->forward_scratch =
            from->forward_scratch > s->forward_scratch ? from->forward_scratch : s->forward_scratch;
        s->backward_scratch = from->backward_scratch < s->backward_scratch ? from->backward_scratch
                                                                           : s->backward_scratch;
        s->way[s->n_ways++] = way_of(from);
    }
}

static bool has_same_stages(const ChainProblem *x, const ChainProblem *y)
{
    for (int i = 0; i < x->n_stages && x->n_stages == y->n_stages; i++)
        if (strcmp(x->stage[i].name, y->stage[i].name) || x->stage[i].output != y->stage[i].output)
            return false;
    return x->n_stages == y->n_stages;
}

// The first way gives the stages.
static void begin_ways(Arena *a, ChainProblem *p, int n_ways)
{
    for (int i = 0; i < p->n_stages; i++) {
        ChainWay *way = arena_array(a, ChainWay, n_ways);
        way[0] = way_of(&p->stage[i]);
        p->stage[i].way = way;
    }
}

// Each way now says what it needs in addition to the stage's backward_scratch.
static void finish_ways(ChainProblem *p)
{
    for (int i = 0; i < p->n_stages; i++)
        for (int k = 0; k < p->stage[i].n_ways; k++)
            p->stage[i].way[k].more_scratch -= p->stage[i].backward_scratch;
}

bool plan_chain_find(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                     const Graph *predict, const PlanResult *planned, PlanChain *to, Diag *d)
{
    KeepPath *path = keep_path_find(a, train, r->recompute.rule, r->target, c, d);
    Finding f = {a, r, c, train, predict, NULL, path, d};
    int n_ways = path ? keep_path_ways(path) : 0;
    ModelPlan plan;

    if (planned) {
        plan = plan_of_model(a, train, &planned->made, &planned->planned.plan);
        f.plan = &plan;
    }

    for (int w = 0; w < n_ways; w++) {
        ProgramChain x;
        int64_t other_bytes;
        if (!find_way(&f, w, &x))
            return false;
        ChainProblem p = chain_of_program(a, &x, &other_bytes);
        if (!w) {
            *to = (PlanChain){.problem = p};
            begin_ways(a, &to->problem, n_ways);
        } else if (has_same_stages(&to->problem, &p)) {
            add_way(&to->problem, &p);
        } else {
            continue;
        }
        to->other_bytes = other_bytes > to->other_bytes ? other_bytes : to->other_bytes;
    }
    if (!path)
        return false;
    finish_ways(&to->problem);
    Program *none = lower_way(&f, 0, NULL);
    if (none)
        to->step = program_simulate(none, SET_TRAIN, c).seconds;
    return none;
}
