// Completes the requests of commands, and gives the exit statuses of compilations.
#include "driver/driver.h"

bool open_cluster(Arena *a, Options *o, int ranks)
{
    const char *name = o->cluster ? o->cluster : "local";
    Cluster *c = arena_array(a, Cluster, 1);
    Diag d = {.file = base_name(name)};

    o->request.cluster = c;
    return cluster_open(a, name, ranks ? ranks : 1, c, &d);
}

bool open_model(Arena *a, Options *o, Diag *d)
{
    const CompileRequest *r = &o->request;

    if (request_is(r, ".ir") || request_is(r, ".program"))
        return true;
    o->request.model = o->model_file = model_open(a, r->input, d);
    return o->model_file;
}

bool complete_request(Arena *a, Options *o, const Diag *d)
{
    CompileRequest *r = &o->request;

    if (needs_cluster(o) && !r->cluster && !open_cluster(a, o, r->ranks))
        return false;
    if (r->accumulate)
        return true;
    r->accumulate = compile_accumulate(r, d->file);
    o->is_accumulate_chosen = true;
    return true;
}

int exit_status_of(CompileStatus status)
{
    static const int exit_status[] = {[COMPILE_WRONG] = EXIT_USER,
                                      [COMPILE_WRONG_OPTION] = EXIT_OPTION,
                                      [COMPILE_INFEASIBLE] = EXIT_INFEASIBLE,
                                      [COMPILE_NOT_FOUND] = EXIT_NOTHING,
                                      [COMPILE_BUG] = EXIT_INTERNAL};

    return exit_status[status];
}

Program *read_program(Arena *a, Options *o, Diag *d)
{
    File f;

    if (!file_map(o->request.input, &f, d))
        return NULL;
    Program *p = program_parse(a, (const char *)f.data, f.size, request_target(a, &o->request), d);
    file_unmap(&f);
    for (int i = 0; p && i < N_SETS; i++)
        if (p->set[i].sharded)
            o->request.ranks = mesh_ranks(&p->set[i].sharded->plan->mesh);
    return p;
}

bool dumps_split(const Options *o) { return o->dump_after && !strcmp(o->dump_after, "partition"); }
