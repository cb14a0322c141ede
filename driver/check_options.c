// Checks options together, before the model is read.
#include <assert.h>
#include <string.h>

#include "compile/compile.h"
#include "driver/internal.h"

// The program's name becomes part of file names, of a Makefile's targets and of C text.
static bool check_name(Arena *a, const Options *o, int *status)
{
    enum { MAX_PROGRAM_NAME = 200 };
    const char *name = base_name(output_path(a, o));
    int n = (int)strlen(name);

    if (o->emit == EMIT_IR || o->emit == EMIT_PROGRAM || o->dump_after)
        return true;
    if (n > MAX_PROGRAM_NAME)
        return complain(status,
                        "'%.40s...' is too long for a program's name: %d bytes, %d more than %d; "
                        "give %s with -o",
                        name, n, n - MAX_PROGRAM_NAME, MAX_PROGRAM_NAME,
                        o->output ? "another" : "one");
    if (*name && *name != '-' && *name != '.' && has_safe_letters(name))
        return true;
    return complain(status,
                    "'%s' can't be a program's name, which has letters, digits, '-', '_', '.' "
                    "and '+' only: give %s with -o",
                    name, o->output ? "another" : "one");
}

static bool is_text(const Options *o)
{
    return request_is(&o->request, ".ir") || request_is(&o->request, ".program");
}

// Checks the options that say how to train. A graph's text may have its loss, or all of it: what
// else it needs is checked once it is read.
static bool check_training(const Options *o, int *status)
{
    if (is_text(o))
        return true;
    if (!o->request.loss && request_of_training(&o->request, o->dump_after))
        return complain(status, "%s needs --loss and --optimizer",
                        request_of_training(&o->request, o->dump_after));
    return true;
}

// Returns an option that says how to read an ONNX file; NULL if none is given.
static const char *needs_onnx(const Options *o)
{
    return o->request.bind.n              ? "--bind"
           : o->request.shape.n           ? "--shape"
           : o->request.freeze.n          ? "--freeze"
           : o->request.padding.n         ? "--padding-index"
           : o->request.tie.n             ? "--tie"
           : o->weights                   ? "--weights"
           : o->weight_map                ? "--weight-map"
           : o->request.stop.n            ? "--stop-gradient"
           : o->request.frozen_batch_norm ? "--frozen-batch-norm"
                                          : NULL;
}

static const OptionDef *find_option(const Command *c, const char *name)
{
    const OptionDef *x = c->options;

    while (strcmp(x->name, name) || !option_is_of(x, c)) {
        x++;
        assert(x < c->options + c->n_options);
    }
    return x;
}

// Fields of options that need others, or that others need, are zero if the option isn't given.
static bool is_given(const OptionDef *x, const Options *o)
{
    const char *field = (const char *)o + x->offset;

    for (size_t i = 0; i < x->type->size; i++)
        if (field[i])
            return true;
    return false;
}

// Do others have the option that they need?
static bool is_enough(const OptionDef *x, const Options *o)
{
    bool is_count = x->type == &option_count || x->type == &option_ranks;

    return is_count ? *(const int *)((const char *)o + x->offset) >= x->enough : is_given(x, o);
}

// Does each option have the one that it needs? A graph's text may have what determines it.
static bool check_needs(const Command *c, const Options *o, int *status)
{
    for (const OptionDef *x = c->options; x < c->options + c->n_options; x++)
        if (x->needs && option_is_of(x, c) && !(is_text(o) && x->use == USE_GRAPH) &&
            is_given(x, o) && !is_enough(find_option(c, x->needs), o))
            return complain(status, "%s needs %s", x->name, x->needs);
    return true;
}

bool check_graph(Arena *a, const Command *c, const Options *o, int *status)
{
    if (!o->request.input)
        return complain(status, "no model given; --help tells more");
    if (!*o->request.input)
        return complain(status, "the model's name is empty");
    if (request_is(&o->request, ".program") && option_of_passes(a, o))
        return complain(status, "%s doesn't apply: a program's text has passed all passes",
                        option_of_passes(a, o));
    if (!check_needs(c, o, status) || !check_training(o, status))
        return false;
    if (request_is(&o->request, ".ir") && needs_onnx(o))
        return complain(status, "%s: a graph's text has its shapes and parameters already",
                        needs_onnx(o));
    if (!o->request.accumulate && (!o->request.memory || is_text(o) || o->request.plan))
        return complain(status, "--accumulate auto %s",
                        o->request.plan ? "doesn't apply: a plan's file says itself how many it has"
                        : is_text(o) ? "doesn't apply: a graph's text says itself how many it has"
                                     : "needs --memory");
    return true;
}

bool range_take(Arena *a, Options *o, int *status)
{
    int n = 0;

    for (int i = 0; i < o->request.bind.n; i++) {
        DimRange r;
        if (!range_read(a, o->request.bind.s[i], &r)) {
            o->request.bind.s[n++] = o->request.bind.s[i];
            continue;
        }
        if (o->range.dim)
            return complain(status, "--bind: one range at a time: '%s' and '%s'", o->range.dim,
                            r.dim);
        o->range = r;
    }
    o->request.bind.n = n;
    if (!o->range.dim)
        return true;
    if (!o->request.memory)
        return complain(status, "--bind %s=%" PRId64 "..%" PRId64 " needs --memory", o->range.dim,
                        o->range.first, o->range.last);
    const char *other = o->svg                      ? "--svg"
                        : o->by != PROFILE_BY_BLOCK ? "--by"
                        : !o->request.accumulate    ? "--accumulate auto"
                                                    : NULL;
    if (other)
        return complain(status, "%s doesn't go with a range of --bind", other);
    return true;
}

bool check_target(Arena *a, const Options *o, int *status)
{
    const Target *t = o->request.target;
    const OptionDef *other = option_of_other_target(a, &compile_options, o, t);

    if (other)
        return complain(status, "%s needs --target %s", other->name, other->target->name);
    if (o->emit == EMIT_KERNELS && t != o->emit_target)
        return complain(status, "--emit %s needs --target %s", o->emit_target->kernels_ending,
                        o->emit_target->name);
    if (t->threads == 1 && o->request.threads)
        return complain(status, "--threads doesn't apply to --target %s", t->name);
    return true;
}

// Returns an option that is for one number of ranks; NULL if none is given.
static const char *needs_one_count(const Options *o)
{
    return o->request.plan                                       ? "--plan"
           : o->request.mesh                                     ? "--mesh"
           : o->request.preset && strchr(o->request.preset, '=') ? "--plan-preset with ranks"
           : o->request.preset && o->fewer[o->n_fewer - 1] == 1  ? "--plan-preset"
           : request_runs_chain(&o->request)                     ? "--recompute chain"
           : o->emit != EMIT_PROGRAM_FILE                        ? "--emit"
           : o->dump_after                                       ? "--dump-after"
                                                                 : NULL;
}

bool check_fewer(const Options *o, int *status)
{
    const char *other = o->n_fewer ? needs_one_count(o) : NULL;

    return !other || complain(status, "%s doesn't go with several numbers of --ranks", other);
}

bool check_together(Arena *a, const Command *c, const Options *o, int *status)
{
    if (!check_graph(a, c, o, status) || !check_target(a, o, status))
        return false;
    if (request_runs_chain(&o->request) && (!o->request.memory || o->request.ranks > 1 ||
                                            o->request.recompute.n > 1 || o->request.no_fuse))
        return complain(status, o->request.ranks > 1 ? "--recompute chain is for one rank"
                                : o->request.recompute.n > 1
                                    ? "--recompute chain goes with no other one"
                                : o->request.no_fuse ? "--recompute chain doesn't go with --no-fuse"
                                                     : "--recompute chain needs --memory");
    if (dumps_split(o) && o->request.ranks < 2)
        return complain(status, "--dump-after partition needs --ranks");
    if (o->request.plan && (o->request.pin.n || o->request.preset))
        return complain(status, "%s: a plan's file has its own pins",
                        o->request.pin.n ? "--pin" : "--plan-preset");
    if (o->dump_after && o->emit != EMIT_PROGRAM_FILE)
        return complain(status, "--dump-after prints a graph: it doesn't go with --emit");
    return check_name(a, o, status);
}
