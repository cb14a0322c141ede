// Proposes a plan by one search.
#include "compile/fit/make_program.h"
#include "compile/fit/plan_job.h"

CompileStatus propose_plan(Arena *a, const PlanRequest *r, const Proposal *p, const Cluster *c,
                           const Graph *train, const Graph *predict, PlanResult *to, Diag *d)
{
    PlanJob j;

    if (!plan_job_read(a, r, p, c, train, predict, &j, d))
        return COMPILE_WRONG;
    const TrialOptions programs = {plan_job_lowering(&j, j.options.memory),
                                   j.options.exchange_memory};
    const PlanTrials trials = trials_of(&programs);
    PlanOptions o = j.options;

    o.trials = p->byte_price.picoseconds > 0 || r->given ? NULL : &trials;
    o.lists_moves = r->given;
    o.n_user_pins = j.n_user_pins;
    o.copies = p->copies;
    o.byte_price = p->byte_price;
    o.stops_early = p->is_brief;
    o.solve.is_single_pass |= p->is_quick;
    *to = (PlanResult){.made = j.made, .options = j.options};
    if (!plan_search(a, j.g, j.c, j.mesh, j.n_meshes, &o, &to->planned, &j.at))
        return COMPILE_WRONG;
    to->planned.plan.recompute = r->recompute;
    return to->planned.answer.choice ? COMPILE_DONE : COMPILE_NOT_FOUND;
}
