// Makes programs in memory: of graphs, with several ranks by a plan, or of a program's text.
#include "driver/make_program.h"

bool open_cluster(Arena *a, const Options *o, Cluster *c)
{
    const char *name = o->cluster ? o->cluster : "local";
    Diag d = {.file = base_name(name)};

    return cluster_open(a, name, o->ranks ? o->ranks : 1, c, &d);
}

PlanStatus make_program(Arena *a, const Options *o, const Cluster *c, const Graphs *g, Program **to,
                        Diag *d)
{
    PlanRequest request = plan_request(a, o, &g->recompute);
    const LowerOptions lo = {
        .target = request.target, .fuse = request.fuse, .accumulate = request.accumulate};
    PlanResult s = {0};

    if (o->ranks < 2) {
        *to = lower(a, g->train, g->predict, &lo, d);
        return *to ? PLAN_DONE : PLAN_WRONG;
    }
    PlanStatus status = fit_memory(a, &request, c, g->train, g->predict, &s, d);
    *to = s.program;
    return status;
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
