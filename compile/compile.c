// The compilation of a model, stage by stage.
#include "compile/compile.h"

// ---- the request ----

const Target *request_target(Arena *a, const CompileRequest *r)
{
    Target *t = arena_array(a, Target, 1);

    *t = *r->target;
    if (r->threads)
        t->threads = r->threads;
    return t;
}

bool request_is(const CompileRequest *r, const char *ending)
{
    size_t n = strlen(r->input), k = strlen(ending);

    return n > k && !strcmp(r->input + n - k, ending);
}

const char *request_of_training(const CompileRequest *r, const char *pass)
{
    return r->optimizer                    ? "--optimizer"
           : r->clip_norm > 0              ? "--clip-norm"
           : r->no_decay.n                 ? "--no-decay"
           : r->recompute.n                ? "--recompute"
           : pass && pass_needs_loss(pass) ? "that pass of --dump-after"
                                           : NULL;
}

PlanRequest compile_plan_request(Arena *a, const CompileRequest *r, const Compiled *c)
{
    return (PlanRequest){.target = request_target(a, r),
                         .ranks = r->ranks,
                         .accumulate = r->accumulate,
                         .memory = r->memory,
                         .mesh = r->mesh,
                         .preset = r->preset,
                         .plan = r->plan,
                         .pin = r->pin.s,
                         .n_pins = r->pin.n,
                         .fuse = !r->no_fuse,
                         .recompute = c->policy,
                         .chooses_recompute = c->chooses_recompute,
                         .runs_chain = request_runs_chain(r),
                         .budget = c->budget};
}

// ---- the program ----

static CompileStatus program_of_one_rank(Arena *a, const PlanRequest *p, const Cluster *c,
                                         Compiled *to, Diag *d)
{
    OneRank one;
    CompileStatus status = fit_one_rank(a, p, c, to->train, to->predict, &one, d);

    to->program = one.program;
    to->recompute = one.recompute;
    to->place = one.place;
    return status;
}

static CompileStatus program_of_ranks(Arena *a, const PlanRequest *p, const Cluster *c,
                                      Compiled *to, Diag *d)
{
    CompileStatus status = (p->chooses_recompute ? fit_recompute : fit_memory)(
        a, p, c, to->train, to->predict, &to->plan, d);

    to->program = to->plan.program;
    to->recompute = to->plan.planned.plan.recompute;
    return status;
}

static CompileStatus make_program(Arena *a, const PlanRequest *p, const Cluster *c, Compiled *to,
                                  Diag *d)
{
    CompileStatus status = (p->ranks < 2 ? program_of_one_rank : program_of_ranks)(a, p, c, to, d);

    return budget_check(to->budget, d) ? status : COMPILE_BUG;
}

CompileStatus compile_program(Arena *a, const CompileRequest *r, Compiled *to, Diag *d)
{
    const PlanRequest p = compile_plan_request(a, r, to);

    return make_program(a, &p, r->cluster, to, d);
}

bool compile_small(Arena *a, const CompileRequest *r, int place, Compiled *to, Diag *d)
{
    PlanRequest p = compile_plan_request(a, r, to);

    p.memory = 1;
    p.is_part = p.is_estimate = true;
    p.place = place;
    return make_program(a, &p, r->cluster, to, d) == COMPILE_INFEASIBLE;
}

// ---- the whole ----

static CompileStatus check(const Compiled *c, Diag *d)
{
    if (program_check(c->program, d))
        return COMPILE_DONE;
    diag_note(d, "the program doesn't compute what the model says, so nothing was written; this is "
                 "a bug in shardcc, not in the model");
    return COMPILE_BUG;
}

static CompileStatus compile_unchecked(Arena *a, const CompileRequest *r, Compiled *to, Diag *d)
{
    CompileStatus status = compile_graphs(a, r, to, d);

    return status ? status : compile_program(a, r, to, d);
}

CompileStatus compile_model(Arena *a, const CompileRequest *r, Compiled *to, Diag *d)
{
    CompileStatus status = compile_unchecked(a, r, to, d);

    return status ? status : check(to, d);
}

bool compile_try(Arena *a, const CompileRequest *r, Compiled *to, bool *fits, Diag *d)
{
    CompileStatus status = compile_unchecked(a, r, to, d);

    *fits = status == COMPILE_DONE;
    return to->program && (*fits || status == COMPILE_INFEASIBLE);
}
