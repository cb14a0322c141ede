// Compiles a model into a trainer: passes, lowering, text, C compiler, weights.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/choose_accumulate.h"
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

static const TargetText *text_of(const Options *o)
{
    return o->target == &target_cuda ? &cuda_text : &cpu_text;
}

static const char *gpus_of(const Options *o) { return o->gpus ? o->gpus : "sm_80,sm_90"; }

static bool write_all(Arena *a, const Options *o, const Program *p, const ProgramTexts *t,
                      const Weights *w, Staging *s, Diag *d)
{
    const char *name = base_name(output_path(a, o));
    BuildOptions b = {.target = text_of(o),
                      .name = name,
                      .runtime = runtime_folder(a),
                      .cc = o->cc,
                      .march = o->march,
                      .gpus = gpus_of(o),
                      .cuda = o->cuda,
                      .has_ranks = o->ranks > 1};
    const Set *set = &p->set[p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT];
    const Graph *g = set->sharded ? set->sharded->whole : set->g;
    char *weights = arena_string(a, "%s.safetensors", name);

    if (!o->no_weights && w->n && !weights_write(w, g, staging_file(s, weights), d))
        return false;
    return o->emit == EMIT_SOURCE ? build_folder(s, p, t, &b, d) : build_program(s, p, t, &b, d);
}

static bool write_program(Arena *a, const Options *o, const Program *p, const ProgramTexts *t,
                          const Weights *w, Diag *d)
{
    char *path = output_path(a, o);
    const char *name = base_name(path);
    bool is_folder = o->emit == EMIT_SOURCE, is_new = false;
    int ranks = o->ranks ? o->ranks : 1;
    char *place = is_folder ? path : output_folder(a, path);
    Staging s;

    if (is_folder && !(is_new = !mkdir(place, 0777)) && errno != EEXIST) {
        diag_error(d, "cannot make the folder '%s': %s", place, strerror(errno));
        return false;
    }
    if (!staging_open(&s, a, place, d) || !staging_close(&s, write_all(a, o, p, t, w, &s, d), d)) {
        if (is_new)
            rmdir(place);
        return false;
    }
    if (is_folder)
        printf("%-13s %s/ (make builds it), %s.c (%d lines)", "wrote", path, name,
               count_lines(&t->c));
    else
        printf("%-13s %s (%d rank%s), %s.c (%d lines)", "wrote", name, ranks, ranks == 1 ? "" : "s",
               name, count_lines(&t->c));
    if (t->kernels.n)
        printf(", %s.cu (%d lines)", name, count_lines(&t->kernels));
    if (!o->no_weights && w->n)
        printf(", %s.safetensors", name);
    printf("\n");
    return true;
}

// Is the result a text, not a trainer?
static bool is_text_form(const Options *o)
{
    return o->emit == EMIT_PROGRAM || o->emit == EMIT_C || o->emit == EMIT_CU;
}

static bool finish(Arena *a, const Options *o, Program *p, const Graph *predict, const Weights *w,
                   const Cluster *c, Diag *d)
{
    ProgramTexts t = {{0}, {0}};
    const Text *text = o->emit == EMIT_CU ? &t.kernels : &t.c;

    if (o->emit == EMIT_PROGRAM) {
        program_print(p, &t.c);
    } else {
        char *path = output_path(a, o);
        GenerateOptions go = {.target = text_of(o),
                              .name = base_name(path),
                              .options = options_text(a, o),
                              .plan = plan_line(a, p),
                              .cluster = needs_cluster(o) ? c : NULL,
                              .peak = o->cluster ? cluster_peak(c) : 0,
                              .init_std = o->init_std,
                              .gpus = gpus_of(o),
                              .vocabulary = find_vocabulary(predict)};
        generate_texts(p, &go, &t);
    }
    bool ok = is_text_form(o) ? output_text(o, text, d) : write_program(a, o, p, &t, w, d);
    texts_free(&t);
    return ok;
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
    bool is_option_wrong;

    if (!passes_print(a, o, o->dump_after, &t, &is_option_wrong, d)) {
        text_free(&t);
        return is_option_wrong ? EXIT_OPTION : EXIT_USER;
    }
    return print_text(o, &t, d);
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
static const Graph *graph_of(const Program *p, int set)
{
    return p->set[set].sharded ? p->set[set].sharded->whole : p->set[set].g;
}

// Checks the program and writes it, in the form that the options ask for.
static int write_result(Arena *a, Options *o, const Made *m, const Graph *train,
                        const Graph *predict, const Weights *w, const Cluster *c, Diag *d)
{
    Program *p = m->program;
    bool is_text = input_is(o, ".program");

    if (!program_check(p, d)) {
        diag_note(d, is_text
                         ? "the program doesn't compute what its graph says, so nothing was written"
                         : "the program doesn't compute what the model says, so nothing was "
                           "written; this is a bug in shardcc, not in the model");
        return is_text ? EXIT_USER : EXIT_INTERNAL;
    }
    if (dumps_split(o))
        return print_split(o, p, d);
    if (o->output || !is_text_form(o)) {
        report_model(d->file, train ? train : predict);
        report_program(a, p);
        report_again(a, train, &m->recompute);
        report_stages(p);
        if (o->is_accumulate_chosen)
            report_accumulate(o->accumulate);
    }
    return finish(a, o, p, predict, w, c, d) ? 0 : EXIT_USER;
}

static int compile_program(Arena *a, Options *o, Diag *d)
{
    Program *p = read_program(a, o, d);
    Cluster c = {0};

    if (!p || (needs_cluster(o) && !open_cluster(a, o, &c)))
        return EXIT_USER;
    return write_result(a, o, &(Made){.program = p}, graph_of(p, SET_TRAIN),
                        graph_of(p, SET_PREDICT), &(Weights){0}, &c, d);
}

static int compile_model(Arena *a, Options *o, Diag *d)
{
    Cluster c = {0};
    Graphs g;
    Made made;

    if (needs_cluster(o) && !open_cluster(a, o, &c))
        return EXIT_USER;
    if (!o->accumulate)
        accumulate_choose(o, &c, d->file);
    if (o->emit == EMIT_IR || (o->dump_after && !dumps_split(o)))
        return print_graphs(a, o, d);
    if (!passes_run(a, o, &g, d))
        return g.is_option_wrong ? EXIT_OPTION : EXIT_USER;
    PlanStatus status = make_program(a, o, &c, &g, &made, d);
    if (status == PLAN_INFEASIBLE)
        suggest_options(o, &g, &made, d);
    return status == PLAN_DONE ? write_result(a, o, &made, g.train, g.predict, &g.weights, &c, d)
                               : plan_exit_status(status);
}

int compile(Arena *a, int argc, char **argv)
{
    Options o;
    int status = 0;

    if (!options_read(a, argc, argv, &o, &status))
        return status;
    Diag d = {.file = base_name(o.input)};
    if (!is_readable(o.input, &d) || !output_check(a, &o, &d))
        return EXIT_USER;
    return input_is(&o, ".program") ? compile_program(a, &o, &d) : compile_model(a, &o, &d);
}
