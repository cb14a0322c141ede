// Compiles a model into a trainer: passes, lowering, text, C compiler, weights.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/suggest.h"
#include "generator/generator.h"
#include "report/report.h"

// ---- the trainer ----

// The vocabulary: the last dim of the first output, if an input holds tokens (a matrix of ints). 0:
// the model has no tokens.
static int64_t find_vocabulary(const Graph *g)
{
    bool has_tokens = false;

    for (ValueId v = 1; g && v < g->n_values && !has_tokens; v++) {
        const Value *x = value_of(g, v);
        has_tokens = x->kind == VALUE_INPUT && dtype_is_int(x->dtype) && x->rank == 2;
    }
    if (!has_tokens || !g->n_outputs)
        return 0;
    const Value *y = value_of(g, g->outputs[0].value);
    return y->rank > 1 ? y->dim[y->rank - 1] : 0;
}

static int count_lines(const Text *t)
{
    int n = 0;

    for (size_t i = 0; i < t->n; i++)
        n += t->s[i] == '\n';
    return n;
}

static bool has_library(Arena *a, const RtTransportRow *row)
{
    return !access(arena_string(a, "%s/libshardrt_%s.a", runtime_folder(a), row->name), R_OK);
}

// The target's transport. Without its library on this machine, as without MPI, ranks talk by the
// first one whose library is there.
static void choose_transport(Arena *a, Options *o)
{
    const RtTransportRow *usual = rt_transport_table, *row;

    if (o->transport || o->request.ranks < 2)
        return;
    while (o->request.target->spawns_ranks && !usual->can_spawn)
        usual++;
    row = usual;
    if (!has_library(a, row))
        for (row = rt_transport_table; row->name && !has_library(a, row); row++)
            ;
    if (row->name && row != usual)
        fprintf(stderr, "shardcc: without %s, ranks talk by %s (--transport %s)\n", usual->needs,
                row->name, row->name);
    o->transport = row->name ? row : NULL;
}

// NULL: there is one rank.
static const RtTransportRow *transport_of(const Options *o)
{
    return o->request.ranks < 2 ? NULL : o->transport ? o->transport : rt_transport_table;
}

static const char *gpus_of(const Options *o) { return o->gpus ? o->gpus : o->request.target->gpus; }

// A program that was made, and what goes with it.
typedef struct Result {
    Options o;      // with the ranks of this program
    bool is_first;  // of --ranks 8,6,4: the weights are its
    Compiled made;  // no program: all is done already
    ProgramTexts texts;
} Result;

static bool has_weights(const Result *r)
{
    return r->is_first && !r->o.no_weights && r->made.weights.n;
}

static bool write_all(Arena *a, const Result *r, Staging *s, Diag *d)
{
    const Options *o = &r->o;
    const Program *p = r->made.program;
    BuildOptions b = {.name = base_name(program_path(a, o)),
                      .runtime = runtime_folder(a),
                      .cc = o->cc,
                      .march = o->march,
                      .gpus = gpus_of(o),
                      .cuda = o->cuda,
                      .transport = transport_of(o)};
    const Set *set = &p->set[p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT];
    const Graph *g = set->sharded ? set->sharded->whole : set->g;
    char *weights = arena_string(a, "%s.safetensors", base_name(output_path(a, o)));

    if (has_weights(r) && !weights_write(&r->made.weights, g, staging_file(s, weights), d))
        return false;
    return o->emit == EMIT_SOURCE ? build_folder(s, p, &r->texts, &b, d)
                                  : build_program(s, p, &r->texts, &b, d);
}

static void say_written(Arena *a, const Result *r)
{
    const Options *o = &r->o;
    const ProgramTexts *t = &r->texts;
    char *path = program_path(a, o);
    const char *name = base_name(path);
    int ranks = o->request.ranks ? o->request.ranks : 1;

    if (o->emit == EMIT_SOURCE)
        printf("%-13s %s/ (make builds it), %s.c (%d lines)", "wrote", path, name,
               count_lines(&t->c));
    else
        printf("%-13s %s (%d rank%s), %s.c (%d lines)", "wrote", name, ranks, ranks == 1 ? "" : "s",
               name, count_lines(&t->c));
    if (t->kernels.n)
        printf(", %s.%s (%d lines)", name, o->request.target->kernels_ending,
               count_lines(&t->kernels));
    if (has_weights(r))
        printf(", %s.safetensors", name);
    printf("\n");
}

// Writes all programs, or none.
static bool write_programs(Arena *a, const Result *r, int n, Diag *d)
{
    const Options *o = &r->o;
    char *path = output_path(a, o);
    bool is_folder = o->emit == EMIT_SOURCE, is_new = false, ok = true;
    char *folder = is_folder ? path : folder_name(a, path);
    Staging s;

    if (is_folder && !(is_new = !mkdir(folder, 0777)) && errno != EEXIST) {
        diag_error(d, "cannot make the folder '%s': %s", folder, strerror(errno));
        return false;
    }
    ok = staging_open(a, &s, folder, d);
    if (ok) {
        for (int i = 0; i < n && ok; i++)
            ok = write_all(a, &r[i], &s, d);
        ok = staging_close(&s, ok, d);
    }
    if (!ok && is_new)
        rmdir(folder);
    for (int i = 0; i < n && ok; i++)
        say_written(a, &r[i]);
    return ok;
}

// Is the result a text, not a trainer?
static bool is_text_form(const Options *o)
{
    return o->emit == EMIT_PROGRAM || o->emit == EMIT_C || o->emit == EMIT_KERNELS;
}

static bool make_texts(Arena *a, Result *r, Diag *d)
{
    const Options *o = &r->o;
    const Program *p = r->made.program;
    GenerateOptions go = {.name = base_name(output_path(a, o)),
                          .options = options_text(a, o),
                          .plan = plan_line(a, p),
                          .cluster = o->request.cluster,
                          .peak = o->cluster ? cluster_peak(o->request.cluster) : 0,
                          .transport = transport_of(o),
                          .init_std = o->init_std,
                          .gpus = gpus_of(o),
                          .vocabulary = find_vocabulary(r->made.predict)};

    if (o->emit == EMIT_PROGRAM) {
        program_print(p, &r->texts.c);
        return true;
    }
    if (!generate_check(p, &go, d))
        return false;
    generate_texts(p, &go, &r->texts);
    return true;
}

static bool is_readable(const char *path, Diag *d)
{
    File f;
    bool ok = file_map(path, &f, d);

    file_unmap(&f);
    return ok;
}

static int print_text(const Options *o, Text *t, Diag *d)
{
    bool ok = output_text(o, t, d);

    text_free(t);
    return ok ? 0 : EXIT_USER;
}

// Prints the graphs after a pass, and no more.
static int print_graphs(Arena *a, const Options *o, Diag *d)
{
    Text t = {0};
    CompileStatus status = compile_text(a, &o->request, o->dump_after, &t, d);

    if (!status)
        return print_text(o, &t, d);
    text_free(&t);
    return exit_status_of(status);
}

static int print_split(const Options *o, const Program *p, Diag *d)
{
    Graph *g = p->set[p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT].g;
    Text t = {0};

    g->after = "partition";
    graph_print(g, &t);
    return print_text(o, &t, d);
}

// ---- the whole ----

// The graph that the program was made of, before it was split over ranks.
static Graph *graph_of(const Program *p, int set)
{
    const Sharded *s = p->set[set].sharded;

    return s ? (Graph *)(uintptr_t)s->whole : p->set[set].g;
}

// Says what the program takes.
static void report_result(Arena *a, const Result *r, Diag *d)
{
    const Options *o = &r->o;
    const Program *p = r->made.program;

    if (dumps_split(o) || (!o->output && is_text_form(o)))
        return;
    if (r->is_first)
        report_model(d->file, r->made.train ? r->made.train : r->made.predict);
    if (o->n_fewer)
        printf("%-13s %d\n", "ranks", o->request.ranks);
    report_program(a, p);
    report_again(a, r->made.train, &r->made.recompute);
    report_stages(p);
    if (o->is_accumulate_chosen)
        report_accumulate(o->request.accumulate);
}

static int read_result(Arena *a, Result *r, Diag *d)
{
    Program *p = read_program(a, &r->o, d);

    if (!p || !complete_request(a, &r->o, d))
        return EXIT_USER;
    r->made = (Compiled){
        .program = p, .train = graph_of(p, SET_TRAIN), .predict = graph_of(p, SET_PREDICT)};
    if (!program_check(p, d)) {
        diag_note(d, "the program doesn't compute what its graph says, so nothing was written");
        return EXIT_USER;
    }
    report_result(a, r, d);
    return 0;
}

static int make_result(Arena *a, Result *r, Diag *d)
{
    Options *o = &r->o;

    if (!complete_request(a, o, d))
        return EXIT_USER;
    if (o->emit == EMIT_IR || (o->dump_after && !dumps_split(o)))
        return print_graphs(a, o, d);
    CompileStatus status = compile_model(a, &o->request, &r->made, d);
    if (status == COMPILE_INFEASIBLE)
        suggest_options(o, &r->made, d);
    if (!status)
        report_result(a, r, d);
    return exit_status_of(status);
}

// Makes the programs for all numbers of ranks, and then writes them.
static int compile_all(Arena *a, Result *r, int n, Diag *d)
{
    for (int i = 0; i < n; i++) {
        bool is_text = request_is(&r[i].o.request, ".program");
        int status = is_text ? read_result(a, &r[i], d) : make_result(a, &r[i], d);
        if (status && n > 1)
            diag_note(d, "this is the program for %d ranks; none was written",
                      r[i].o.request.ranks);
        if (status || !r[i].made.program)
            return status;
    }
    if (dumps_split(&r->o))
        return print_split(&r->o, r->made.program, d);
    bool ok = true;
    for (int i = 0; i < n && ok; i++)
        ok = make_texts(a, &r[i], d);
    const Text *text = r->o.emit == EMIT_KERNELS ? &r->texts.kernels : &r->texts.c;
    ok = ok && (is_text_form(&r->o) ? output_text(&r->o, text, d) : write_programs(a, r, n, d));
    for (int i = 0; i < n; i++)
        texts_free(&r[i].texts);
    return ok ? 0 : EXIT_USER;
}

int compile(Arena *a, int argc, char **argv)
{
    Options o;
    int status = 0;

    if (!options_read(a, argc, argv, &o, &status))
        return status;
    choose_transport(a, &o);
    Diag d = {.file = base_name(o.request.input)};
    if (!is_readable(o.request.input, &d) || !output_check(a, &o, &d) || !open_weights(a, &o, &d) ||
        !open_model(a, &o, &d))
        return EXIT_USER;
    Result *r = arena_array(a, Result, 1 + o.n_fewer);
    for (int i = 0; i <= o.n_fewer; i++) {
        r[i] = (Result){.o = o, .is_first = !i};
        r[i].o.request.ranks = i ? o.fewer[i - 1] : o.request.ranks;
    }
    status = compile_all(a, r, 1 + o.n_fewer, &d);
    weight_file_close(o.weight_file);
    model_close(o.model_file);
    return status;
}
