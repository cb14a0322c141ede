// Has the chain of a program solved, and the program made by its schedule.
#include "compile/fit/run_chain.h"

#include "compile/fit/make_program.h"

ChainProblem chain_of_program(Arena *a, const ProgramChain *x, int64_t *other_bytes)
{
    ChainProblem p = {.n_stages = x->n_stages, .stage = arena_array(a, ChainStage, x->n_stages)};
    int64_t more = 0;

    for (int i = 0; i < x->n_stages; i++) {
        const StageWork *w = &x->stage[i];
        int64_t handed = i ? x->stage[i - 1].bytes[POOL_HANDED] : 0;
        int64_t excess = w->bytes[POOL_GRADIENT] - handed;
        StagePolicy *policy = arena_array(a, StagePolicy, 1);
        more = excess > more ? excess : more;
        *policy = (StagePolicy){.saved = w->bytes[POOL_HANDED] + w->bytes[POOL_SAVED],
                                .forward_time = w->forward_seconds,
                                .backward_time = w->backward_seconds};
        p.stage[i] =
            (ChainStage){.name = w->name,
                         .output = w->bytes[POOL_HANDED],
                         .forward_scratch = w->bytes[POOL_SCRATCH],
                         .backward_scratch = w->bytes[POOL_BACK_SCRATCH] + w->bytes[POOL_GRADIENT],
                         .forward_time = w->forward_seconds,
                         .n_policies = 1,
                         .policy = policy};
    }
    *other_bytes = x->rest + more;
    return p;
}

// ---- one program ----

typedef struct Solving {
    int64_t memory;
    ChainProblem problem;
    ChainTable *table;  // of all memory up to what there was at first
} Solving;

static int set_runs(Arena *a, const ChainSchedule *s, StageRun **run)
{
    *run = arena_array(a, StageRun, s->n_ops);
    for (int i = 0; i < s->n_ops; i++)
        (*run)[i] = (StageRun){.stage = s->op[i].stage,
                               .is_backward = s->op[i].kind == CHAIN_BACKWARD,
                               .is_last = s->op[i].kind == CHAIN_SAVE};
    return s->n_ops;
}

// The fastest schedule in the memory that is left or, if there is none, the one that needs the
// least.
static int choose(Arena *a, void *context, const ProgramChain *x, StageRun **run)
{
    Solving *s = context;
    int64_t other_bytes, available;
    ChainSchedule schedule = {0};

    s->problem = chain_of_program(a, x, &other_bytes);
    available = s->memory > other_bytes ? s->memory - other_bytes : 0;
    if (!s->table)
        s->table = chain_solve(a, &s->problem, available, 0);
    int64_t least = chain_least(s->table);
    if (!chain_schedule(a, s->table, available > least ? available : least, &schedule))
        return 0;
    return set_runs(a, &schedule, run);
}

typedef struct Candidate {
    Program *program;
    RecomputePolicy policy;
    double seconds;
} Candidate;

typedef struct Search {
    Arena *a;
    const PlanRequest *r;
    const Cluster *cluster;
    const KeepPath *path;
    const Graph *train, *predict;
    Diag *d;
} Search;

// Makes the program whose layers have policy number i of their class, or the last one if there are
// fewer. If no schedule fits, it is the smallest program. False after an error.
static bool try_policy(const Search *x, int i, Candidate *to)
{
    Solving s = {.memory = x->r->memory};
    ChainChoice choice = {choose, &s, x->cluster};
    LowerOptions o = request_lowering(x->r);

    o.memory = x->r->memory;
    o.chain = &choice;
    to->policy = keep_path_same(x->a, x->path, i);
    to->program = program_of_policy(x->a, x->train, x->predict, &to->policy, &o, x->d);
    if (to->program)
        to->seconds = program_simulate(to->program, SET_TRAIN, x->cluster).seconds;
    return to->program;
}

static bool does_fit(const Search *x, const Candidate *c)
{
    return c->program->arena_bytes <= x->r->memory;
}

// Does `a` fit and take less time or, if neither fits, fewer bytes than `b`?
static bool is_better(const Search *x, const Candidate *a, const Candidate *b)
{
    if (!b->program || does_fit(x, a) != does_fit(x, b))
        return !b->program || does_fit(x, a);
    return does_fit(x, a) ? a->seconds < b->seconds
                          : a->program->arena_bytes < b->program->arena_bytes;
}

bool chain_program(Arena *a, const PlanRequest *r, const Cluster *c, const KeepPath *path,
                   const Graph *train, const Graph *predict, OneRank *to, Diag *d)
{
    const Search x = {a, r, c ? c : &cluster_assumed, path, train, predict, d};
    Candidate best = {0}, one;

    for (int i = 0; i < keep_path_policies(path); i++) {
        if (!try_policy(&x, i, &one))
            return false;
        if (is_better(&x, &one, &best))
            best = one;
    }
    *to = (OneRank){best.program, best.policy};
    return true;
}
