// shardcc profile: shows the work of a step, and what the arena holds while it runs.
#include <string.h>

#include "driver/largest_size.h"
#include "report/report.h"

typedef struct Job {
    Arena *a;
    Options o;
    const Graph *model;  // the graph that the program was made of
    Compiled made;
    Diag *d;
} Job;

// Returns the exit status, 0 if there is a program.
static int make(Job *j)
{
    if (!complete_request(j->a, &j->o, j->d))
        return EXIT_USER;
    CompileStatus status = compile_graphs(j->a, &j->o.request, &j->made, j->d);
    j->model = j->made.train ? j->made.train : j->made.predict;
    return exit_status_of(status ? status : compile_program(j->a, &j->o.request, &j->made, j->d));
}

static int make_of_text(Job *j)
{
    Program *p = read_program(j->a, &j->o, j->d);

    if (!p)
        return EXIT_USER;
    const Set *s = &p->set[p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT];
    j->model = s->sharded ? s->sharded->whole : s->g;
    j->made.program = p;
    return complete_request(j->a, &j->o, j->d) ? 0 : EXIT_USER;
}

static bool write_files(const Job *j, const Profile *f)
{
    Text csv = {0}, svg = {0};

    if (j->o.csv)
        profile_csv(f, &csv);
    if (j->o.svg)
        profile_svg(f, j->d->file, &svg);
    bool ok = (!j->o.csv || out_write(j->o.csv, csv.s, csv.n, j->d)) &&
              (!j->o.svg || out_write(j->o.svg, svg.s, svg.n, j->d));
    text_free(&csv);
    text_free(&svg);
    return ok;
}

static bool check_files(Job *j)
{
    return (!j->o.csv || output_check_file(j->a, &j->o, j->o.csv, j->d)) &&
           (!j->o.svg || output_check_file(j->a, &j->o, j->o.svg, j->d));
}

static int profile_program(Job *j)
{
    int status = request_is(&j->o.request, ".program") ? make_of_text(j) : make(j);

    if (status)
        return status;
    Profile f = profile_make(j->a, j->made.program, j->o.request.cluster);
    report_model(j->d->file, j->model);
    report_program(j->a, j->made.program);
    report_again(j->a, j->model, &j->made.recompute);
    report_stages(j->made.program);
    if (j->o.is_accumulate_chosen)
        report_accumulate(j->o.request.accumulate);
    profile_print(&f, j->o.by);
    return write_files(j, &f) ? 0 : EXIT_USER;
}

static int find_largest_size(Job *j)
{
    return complete_request(j->a, &j->o, j->d) ? largest_size(j->a, &j->o, j->d) : EXIT_USER;
}

int profile_command(Arena *a, int argc, char **argv)
{
    Job j = {.a = a};
    int status = 0;

    if (!profile_options_read(a, argc, argv, &j.o, &status))
        return status;
    Diag d = {.file = base_name(j.o.request.input)};
    j.d = &d;
    if (!check_files(&j) || !open_weights(a, &j.o, &d) || !open_model(a, &j.o, &d))
        return EXIT_USER;
    status = j.o.range.dim ? find_largest_size(&j) : profile_program(&j);
    weight_file_close(j.o.weight_file);
    model_close(j.o.model_file);
    return status;
}
