// The facts that follow from a request.
#include "compile/fit/plan_predictions.h"
#include "compile/internal.h"

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
           : dtype_is_half(r->reduce)      ? "--reduce"
           : r->loss_scale                 ? "--loss-scale"
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
                         .budget = c->budget,
                         .predictions = arena_array(a, Predictions, 1)};
}

void compile_plan_file(Arena *a, const CompileRequest *r, const Compiled *c, PlanFile *f)
{
    const Plan *p = &c->plan.planned.plan;
    const Graph *g = c->program->set[SET_TRAIN].sharded->whole;

    plan_file_make(a, f, g, r->cluster, p, c->program->accumulate);
    f->model_hash = graph_hash(c->train);
    f->n_keep = f->n_keep_solved = plan_keep_make(a, c->train, &p->recompute, &f->keep);
    f->keep_solved = f->keep;
    f->preset = r->preset;
    f->threads = r->threads;
    DType half = (DType)precision_of(c->train).half;
    f->precision = half ? dtype_name(half) : NULL;
    f->target = r->target == target_default() ? NULL : r->target->name;
}
