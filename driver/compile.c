// From a model to a trainer: passes, lowering, text, C compiler, weights.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/passes.h"
#include "driver/report.h"
#include "generator/generator.h"
#include "lower/lower.h"

// ---- outputs ----

static bool write_file(const char *path, const Text *t, Diag *d)
{
    OutFile f;

    if (!out_open(&f, path, d))
        return false;
    if (fwrite(t->s, 1, t->n, f.f) == t->n)
        return out_commit(&f, d);
    diag_error(d, "can't write %s: %s", path, strerror(errno));
    out_cancel(&f);
    return false;
}

// To -o, or to stdout without one.
static bool emit_text(const Options *o, const Text *t, Diag *d)
{
    if (o->output)
        return write_file(o->output, t, d);
    return fwrite(t->s, 1, t->n, stdout) == t->n;
}

// The folder with the runtime's headers, sources and library, beside the program itself.
static char *runtime_folder(Arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n < 0)
        return arena_string(a, "rt");
    path[n] = 0;
    char *slash = strrchr(path, '/');
    return arena_string(a, "%.*s/rt", slash ? (int)(slash - path) : 0, path);
}

// The trainer's path: -o, or the model's base name without its ending, here.
static char *output_path(Arena *a, const Options *o)
{
    const char *base = base_name(o->input), *dot = strrchr(base, '.');

    if (o->output && o->emit != EMIT_C)
        return arena_copy(a, o->output, strlen(o->output));
    return arena_copy(a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

// Names of files and of make's targets come from it.
static bool check_name(const char *name, Diag *d)
{
    if (*name && *name != '-' && *name != '.' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") ==
            strlen(name))
        return true;
    diag_error(d, "-o: the program's name may have letters, digits, '-', '_', '.' and '+' only");
    return false;
}

// ---- the trainer ----

// Class numbers are tokens: the size of the first output's last dim where the first input is ints.
static int64_t find_vocabulary(const Graph *g)
{
    bool has_tokens = false;

    for (ValueId v = 1; v < g->n_values && !has_tokens; v++) {
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

static bool write_weights(Arena *a, const Options *o, const char *path, const Weights *w,
                          const Graph *g, bool *wrote, Diag *d)
{
    *wrote = !o->no_weights && w->n;
    return !*wrote || weights_write(w, g, arena_string(a, "%s.safetensors", path), d);
}

static bool write_program(Arena *a, const Options *o, const Program *p, const Text *c,
                          const Weights *w, Diag *d)
{
    char *path = output_path(a, o), *c_path = arena_string(a, "%s.c", path);
    const char *name = base_name(path);
    BuildOptions b = {.runtime = runtime_folder(a), .cc = o->cc, .march = o->march};
    const Graph *g = p->set[p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT].g;
    bool has_weights;

    if (o->emit == EMIT_SOURCE) {
        char *inside = arena_string(a, "%s/%s", path, name);
        if (!build_folder(path, name, c, &b, d) ||
            !write_weights(a, o, inside, w, g, &has_weights, d))
            return false;
        printf("%-13s %s/ (make builds it), %s.c (%d lines)\n", "wrote", path, name,
               count_lines(c));
        return true;
    }
    if (!write_weights(a, o, path, w, g, &has_weights, d) || !write_file(c_path, c, d) ||
        !build_program(c_path, path, &b, d))
        return false;
    printf("%-13s %s (1 rank), %s.c (%d lines)", "wrote", name, name, count_lines(c));
    if (has_weights)
        printf(", %s.safetensors", name);
    printf("\n");
    return true;
}

static bool finish(Arena *a, const Options *o, Program *p, const Weights *w, Diag *d)
{
    Text t = {0};
    bool ok;

    if (o->emit == EMIT_PROGRAM) {
        program_print(p, &t);
        ok = emit_text(o, &t, d);
    } else {
        char *path = output_path(a, o);
        GenerateOptions go = {.name = base_name(path),
                              .options = options_text(a, o),
                              .plan = plan_line(a, p),
                              .init_std = o->init_std,
                              .vocabulary = find_vocabulary(p->set[SET_PREDICT].g)};
        ok = check_name(go.name, d);
        if (ok)
            generate_c(p, &go, &t);
        if (ok && o->emit == EMIT_C)
            ok = emit_text(o, &t, d);
        else if (ok)
            ok = write_program(a, o, p, &t, w, d);
    }
    text_free(&t);
    return ok;
}

static bool check_dump(const Options *o, int *status)
{
    int n;
    const char *const *names = pass_names(&n);

    if (!o->dump_after || pass_exists(o->dump_after))
        return true;
    fprintf(stderr, "shardcc: error: --dump-after: expected one of");
    for (int i = 0; i < n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fprintf(stderr, "; found '%s'\n", o->dump_after);
    *status = EXIT_OPTION;
    return false;
}

int compile(Arena *a, const Options *o)
{
    Diag d = {.file = base_name(o->input)};
    Weights w = {0};
    bool dumped = false;
    int status = EXIT_USER;

    if (!check_dump(o, &status))
        return status;
    Graph *train = passes_run(a, o, true, &w, &d, &dumped), *predict;
    if (!train)
        return dumped ? 0 : EXIT_USER;
    if (o->emit == EMIT_IR) {
        Text t = {0};
        graph_print(train, &t);
        bool ok = emit_text(o, &t, &d);
        text_free(&t);
        return ok ? 0 : EXIT_USER;
    }
    if (!o->loss && !train->n_carries)  // it only predicts
        train = NULL;
    predict = passes_run(a, o, false, NULL, &d, &dumped);
    if (!predict)
        return EXIT_USER;
    LowerOptions lo = {.fuse = !o->no_fuse, .accumulate = o->accumulate};
    bool to_stdout = !o->output && (o->emit == EMIT_PROGRAM || o->emit == EMIT_C);
    Program *p = lower(a, train, predict, &lo, &d);
    if (!p)
        return EXIT_USER;
    if (!to_stdout) {
        report_model(d.file, train ? train : predict);
        report_program(p);
    }
    return finish(a, o, p, &w, &d) ? 0 : EXIT_USER;
}
