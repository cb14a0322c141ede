// Finds the index on the path of policies at which the arena fits and the step is the shortest.
// Arenas are lowered, not estimated, so what fits is exact.
#include "base/search.h"
#include "compile/fit/along_path.h"
#include "compile/fit/make_program.h"
#include "compile/fit/memory_parts.h"
#include "compile/fit/run_chain.h"

typedef struct Job {
    Arena *a;
    const PlanRequest *r;
    const Graph *train, *predict;
    const KeepPath *path;
    Diag *d;
} Job;

static Program *make(Arena *a, const Job *j, const RecomputePolicy *p)
{
    LowerOptions o = request_lowering(j->r);

    return program_of_policy(a, j->train, j->predict, p, &o, j->d);
}

// The index of the shortest step that fits or, if none does, of the fewest bytes.
static int find_index(const Job *j, const Cluster *c)
{
    AlongPath s = {.a = j->a,
                   .r = j->r,
                   .c = c ? c : &cluster_assumed,
                   .train = j->train,
                   .predict = j->predict,
                   .path = j->path,
                   .memory = j->r->memory,
                   .d = j->d};

    along_path_consider(&s, NULL, 0);
    return s.best.is_found ? s.best.index : along_path_least(&s, NULL);
}

static void say_infeasible(const Job *j, const Program *p)
{
    PlanFile f = {0};
    Text peak = {0};
    const char *memory = bytes_text(j->a, (double)j->r->memory),
               *bytes = bytes_text(j->a, (double)p->arena_bytes);

    plan_make_memory(j->a, &f, p);
    if (j->path)
        diag_error(
            j->d, "nothing fits in %s, whatever runs again: the least takes %" PRId64 " bytes (%s)",
            memory, p->arena_bytes, bytes);
    else
        diag_error(j->d, "the program doesn't fit in %s: it takes %" PRId64 " bytes (%s)", memory,
                   p->arena_bytes, bytes);
    print_memory_parts(j->a, &f, &peak);
    diag_note(j->d, "its peak is in %s", peak.s);
    text_free(&peak);
}

static bool does_fit(const Job *j, const Program *p) { return p && p->arena_bytes <= j->r->memory; }

// Takes the program whose stages run again instead of the one on the path, if the latter doesn't
// fit, or is slower by more than MIN_CHAIN_GAIN. False after an error.
static bool run_stages(const Job *j, const Cluster *c, OneRank *to)
{
    const Program *layers = to->program;
    const Cluster *machine = c ? c : &cluster_assumed;
    bool do_layers_fit = does_fit(j, layers), is_alone = j->r->runs_chain;
    Text said = {0};
    Diag quiet = {.file = j->d->file, .to = &said};
    OneRank chain = {0};
    bool ok = chain_program(j->a, j->r, c, j->path, j->train, j->predict, &chain,
                            is_alone ? j->d : &quiet);

    text_free(&said);
    if (!ok || !chain.program)
        return ok || !is_alone;
    bool is_better =
        !layers || (!do_layers_fit && chain.program->arena_bytes < layers->arena_bytes);
    if (do_layers_fit && does_fit(j, chain.program))
        is_better = program_simulate(chain.program, SET_TRAIN, machine).seconds <
                    (1 - MIN_CHAIN_GAIN) * program_simulate(layers, SET_TRAIN, machine).seconds;
    chain.index = to->index;
    if (is_better)
        *to = chain;
    return true;
}

static bool choose(Job *j, const Cluster *c, OneRank *to)
{
    RecomputeRule rule = j->r->recompute.rule;

    j->path = keep_path_find(j->a, j->train, rule, j->r->target, c, j->d);
    if (!j->path)
        return false;
    if (j->r->runs_chain)
        return run_stages(j, c, to);
    to->index = j->r->is_estimate ? j->r->index : find_index(j, c);
    to->index = to->index < j->path->last_index ? to->index : j->path->last_index;
    to->recompute = keep_path_at(j->a, j->path, to->index);
    to->program = j->d->errors ? NULL : make(j->a, j, &to->recompute);
    return to->program && (!to->index || j->r->is_estimate || run_stages(j, c, to));
}

CompileStatus fit_one_rank(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                           const Graph *predict, OneRank *to, Diag *d)
{
    Job j = {.a = a, .r = r, .train = train, .predict = predict, .d = d};
    LowerOptions o = request_lowering(r);

    *to = (OneRank){.recompute = r->recompute};
    if (!r->chooses_recompute)
        to->program =
            lower(a, train ? graph_clone(a, train) : NULL, graph_clone(a, predict), &o, d);
    else if (!choose(&j, c, to))
        return COMPILE_WRONG;
    if (!to->program)
        return COMPILE_WRONG;
    if (!r->memory || to->program->arena_bytes <= r->memory)
        return COMPILE_DONE;
    if (!r->is_part)
        say_infeasible(&j, to->program);
    return COMPILE_INFEASIBLE;
}
