// The compilation of a model, stage by stage.
#include "compile/compile.h"

// ---- the program ----

static CompileStatus program_of_one_rank(Arena *a, const PlanRequest *p, const Cluster *c,
                                         Compiled *to, Diag *d)
{
    OneRank one;
    CompileStatus status = fit_one_rank(a, p, c, to->train, to->predict, &one, d);

    to->program = one.program;
    to->recompute = one.recompute;
    to->index = one.index;
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

bool compile_small(Arena *a, const CompileRequest *r, int index, Compiled *to, Diag *d)
{
    PlanRequest p = compile_plan_request(a, r, to);

    p.memory = 1;
    p.is_part = p.is_estimate = true;
    p.index = index;
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

// The hash of the plan's file, or of the one that `shardcc plan` would write. With pins, the file
// is another plan than the one that was found around them.
static uint64_t plan_hash(Arena *a, const CompileRequest *r, const Compiled *c)
{
    PlanFile f;

    if (r->ranks < 2 || !c->train)
        return 0;
    if (r->plan_keeps)
        return plan_file_hash(r->plan_keeps);
    compile_plan_file(a, r, c, &f);
    return plan_file_hash(&f);
}

CompileStatus compile_model(Arena *a, const CompileRequest *r, Compiled *to, Diag *d)
{
    CompileStatus status = compile_unchecked(a, r, to, d);

    if (status)
        return status;
    to->program->plan_hash = plan_hash(a, r, to);
    return check(to, d);
}

bool compile_try(Arena *a, const CompileRequest *r, Compiled *to, bool *fits, Diag *d)
{
    CompileStatus status = compile_unchecked(a, r, to, d);

    *fits = status == COMPILE_DONE;
    return to->program && (*fits || status == COMPILE_INFEASIBLE);
}
