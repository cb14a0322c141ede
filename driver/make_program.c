// Makes programs in memory: of graphs, with several ranks by a plan, or of a program's text.
#include "driver/make_program.h"

bool open_cluster(Arena *a, const Options *o, Cluster *c)
{
    const char *name = o->cluster ? o->cluster : "local";
    Diag d = {.file = base_name(name)};

    return cluster_open(a, name, o->ranks ? o->ranks : 1, c, &d);
}

PlanRequest plan_request(Arena *a, const Options *o, const Graphs *g)
{
    return (PlanRequest){.target = options_target(a, o),
                         .ranks = o->ranks,
                         .accumulate = o->accumulate,
                         .memory = o->memory,
                         .mesh = o->mesh,
                         .preset = o->preset,
                         .plan = o->plan,
                         .pin = o->pin.s,
                         .n_pins = o->pin.n,
                         .fuse = !o->no_fuse,
                         .recompute = g->recompute,
                         .chooses_recompute = g->chooses_recompute,
                         .runs_chain = runs_chain(o),
                         .budget = g->budget};
}

PlanStatus plan_graphs(Arena *a, const PlanRequest *r, const Cluster *c, const Graphs *g,
                       PlanResult *to, Diag *d)
{
    return (r->chooses_recompute ? fit_recompute : fit_memory)(a, r, c, g->train, g->predict, to,
                                                               d);
}

static PlanStatus make_uncounted(Arena *a, const Options *o, const PlanRequest *r, const Cluster *c,
                                 const Graphs *g, Made *to, Diag *d)
{
    PlanResult s = {0};
    OneRank one;
    PlanStatus status;

    if (o->ranks < 2) {
        status = fit_one_rank(a, r, needs_cluster(o) ? c : NULL, g->train, g->predict, &one, d);
        *to = (Made){one.program, one.recompute, one.place};
        return status;
    }
    status = plan_graphs(a, r, c, g, &s, d);
    *to = (Made){s.program, s.planned.plan.recompute, 0};
    return status;
}

static PlanStatus make(Arena *a, const Options *o, const PlanRequest *r, const Cluster *c,
                       const Graphs *g, Made *to, Diag *d)
{
    PlanStatus status = make_uncounted(a, o, r, c, g, to, d);

    return budget_check(g->budget, d) ? status : PLAN_UNBOUNDED;
}

PlanStatus make_program(Arena *a, const Options *o, const Cluster *c, const Graphs *g, Made *to,
                        Diag *d)
{
    PlanRequest request = plan_request(a, o, g);

    return make(a, o, &request, c, g, to, d);
}

bool make_small(Arena *a, const Options *o, const Cluster *c, const Graphs *g, int place, Made *to,
                Diag *d)
{
    PlanRequest request = plan_request(a, o, g);

    request.memory = 1;
    request.is_part = request.is_estimate = true;
    request.place = place;
    return make(a, o, &request, c, g, to, d) == PLAN_INFEASIBLE;
}

bool try_program(Arena *a, const Options *o, const Cluster *c, Graphs *g, Made *to, bool *fits,
                 Diag *d)
{
    *to = (Made){0};
    if (!passes_run(a, o, g, d))
        return false;
    PlanStatus status = make_program(a, o, c, g, to, d);
    *fits = status == PLAN_DONE;
    return to->program && (status == PLAN_DONE || status == PLAN_INFEASIBLE);
}

int plan_exit_status(PlanStatus status)
{
    static const int exit_status[] = {[PLAN_WRONG] = EXIT_USER,
                                      [PLAN_INFEASIBLE] = EXIT_INFEASIBLE,
                                      [PLAN_NOT_FOUND] = EXIT_NOTHING,
                                      [PLAN_UNBOUNDED] = EXIT_INTERNAL};

    return exit_status[status];
}

Program *read_program(Arena *a, Options *o, Diag *d)
{
    File f;

    if (!file_map(o->input, &f, d))
        return NULL;
    Program *p = program_parse(a, (const char *)f.data, f.size, options_target(a, o), d);
    file_unmap(&f);
    for (int i = 0; p && i < N_SETS; i++)
        if (p->set[i].sharded)
            o->ranks = mesh_ranks(&p->set[i].sharded->plan->mesh);
    return p;
}
