// The command line: one table of options serves parsing, help and suggestions.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"

typedef enum OptionId {
    O_OUTPUT,
    O_LOSS,
    O_OPTIMIZER,
    O_CLIP,
    O_ACCUMULATE,
    O_FREEZE,
    O_NO_DECAY,
    O_FROZEN_BN,
    O_BIND,
    O_SHAPE,
    O_NO_WEIGHTS,
    O_INIT,
    O_EMIT,
    O_DUMP,
    O_NO_FUSE,
    O_MARCH,
    O_CC,
    O_HELP,
    O_VERSION
} OptionId;

static const struct {
    const char *name;
    OptionId id;
    const char *value;  // what it takes; NULL: nothing
    const char *help;
} table[] = {
    {"-o", O_OUTPUT, "NAME", "the trainer to write (with --emit source: the folder)"},
    {"--loss", O_LOSS, "TEXT",
     "cross_entropy(x, labels, ignore_index=-100, label_smoothing=0),\n"
     "mse(x, y), l1(x, y), bce_with_logits(x, y), or a scalar output"},
    {"--optimizer", O_OPTIMIZER, "TEXT",
     "sgd(lr, momentum, nesterov, weight_decay), adam, adamw, adagrad,\n"
     "lamb: NAME or NAME(option=value, ...)"},
    {"--clip-norm", O_CLIP, "X", "scale gradients so that their 2-norm is at most X"},
    {"--accumulate", O_ACCUMULATE, "K", "split the batch into K micro-batches"},
    {"--bind", O_BIND, "DIM=N", "the size of a named dim: batch=4"},
    {"--shape", O_SHAPE, "INPUT=N,N", "the shape of an input: input_ids=4,64"},
    {"--freeze", O_FREEZE, "GLOB", "parameters that are not trained"},
    {"--no-decay", O_NO_DECAY, "GLOB", "parameters without weight decay"},
    {"--frozen-batch-norm", O_FROZEN_BN, NULL, "batch norm on its running statistics"},
    {"--no-weights", O_NO_WEIGHTS, NULL, "write no NAME.safetensors"},
    {"--init", O_INIT, "normal(STD)", "the trainer draws weights when there is no file of them"},
    {"--emit", O_EMIT, "WHAT", "ir, program, c: that text instead; source: a folder to build"},
    {"--dump-after", O_DUMP, "PASS", "print the graph after a pass, and stop"},
    {"--no-fuse", O_NO_FUSE, NULL, "every operator on its own"},
    {"--march", O_MARCH, "CPU", "native (default), x86-64-v3, ..."},
    {"--cc", O_CC, "PROGRAM", "the C compiler (default cc)"},
    {"--help", O_HELP, NULL, "this text"},
    {"--version", O_VERSION, NULL, "the version"},
};

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_help(void)
{
    printf("usage: shardcc MODEL.onnx [-o NAME] --loss TEXT --optimizer TEXT [options]\n\n"
           "Compiles a traced model into a trainer: one program, its C text, its weights.\n"
           "Without --loss the program only predicts.\n\n");
    for (int i = 0; i < COUNT(table); i++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", table[i].name, table[i].value ? table[i].value : "");
        const char *s = table[i].help, *end;
        printf("  %-24s", left);
        for (; (end = strchr(s, '\n')); s = end + 1)
            printf("%.*s\n%26s", (int)(end - s), s, "");
        printf("%s\n", s);
    }
}

static bool complain(int *status, const char *fmt, ...) PRINTF(2, 3);
static bool complain(int *status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fprintf(stderr, "shardcc: error: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    *status = EXIT_OPTION;
    return false;
}

static bool unknown(const char *word, int *status)
{
    const char *names[COUNT(table)];

    for (int i = 0; i < COUNT(table); i++)
        names[i] = table[i].name;
    const char *near = nearest_name(word, names, COUNT(table));
    if (near)
        return complain(status, "unknown option %s: did you mean %s?", word, near);
    return complain(status, "unknown option %s (see shardcc --help)", word);
}

static bool read_number(const char *name, const char *s, double low, double *x, int *status)
{
    char *end;

    errno = 0;
    *x = strtod(s, &end);
    if (*s && !*end && !errno && isfinite(*x) && *x >= low)
        return true;
    return complain(status, "%s: expected a number of at least %g, found '%s'", name, low, s);
}

static bool read_accumulate(const char *s, int *k, int *status)
{
    char *end;
    long n = strtol(s, &end, 10);

    if (!*s || *end || n < 1 || n > 1 << 20)
        return complain(status, "--accumulate: expected a number from 1 to 1048576, found '%s'", s);
    *k = (int)n;
    return true;
}

static bool read_init(const char *s, double *std, int *status)
{
    char *end;
    size_t n = strlen(s);

    if (strncmp(s, "normal(", 7) == 0 && n > 8 && s[n - 1] == ')') {
        *std = strtod(s + 7, &end);
        if (end == s + n - 1 && isfinite(*std) && *std > 0)
            return true;
    }
    return complain(status, "--init: expected normal(STD) with STD > 0, found '%s'", s);
}

static bool read_emit(const char *s, Emit *e, int *status)
{
    static const char *const names[] = {"ir", "program", "c", "source"};
    static const Emit what[] = {EMIT_IR, EMIT_PROGRAM, EMIT_C, EMIT_SOURCE};

    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(s, names[i])) {
            *e = what[i];
            return true;
        }
    return complain(status, "--emit: expected ir, program, c or source, found '%s'", s);
}

static bool read_march(const char *s, const char **march, int *status)
{
    if (*s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") ==
                  strlen(s)) {
        *march = s;
        return true;
    }
    return complain(status, "--march: expected a CPU's name, found '%s'", s);
}

static void push(Arena *a, Strings *list, const char *s)
{
    *arena_push(a, list->s, list->n, list->cap) = s;
}

static bool set(Arena *a, Options *o, OptionId id, const char *s, int *status)
{
    switch (id) {
    case O_OUTPUT:
        o->output = s;
        break;
    case O_LOSS:
        o->loss = s;
        break;
    case O_OPTIMIZER:
        o->optimizer = s;
        break;
    case O_CLIP:
        return read_number("--clip-norm", s, 0, &o->clip_norm, status);
    case O_ACCUMULATE:
        return read_accumulate(s, &o->accumulate, status);
    case O_FREEZE:
        push(a, &o->freeze, s);
        break;
    case O_NO_DECAY:
        push(a, &o->no_decay, s);
        break;
    case O_FROZEN_BN:
        o->frozen_batch_norm = true;
        break;
    case O_BIND:
        push(a, &o->bind, s);
        break;
    case O_SHAPE:
        push(a, &o->shape, s);
        break;
    case O_NO_WEIGHTS:
        o->no_weights = true;
        break;
    case O_INIT:
        return read_init(s, &o->init_std, status);
    case O_EMIT:
        return read_emit(s, &o->emit, status);
    case O_DUMP:
        o->dump_after = s;
        break;
    case O_NO_FUSE:
        o->no_fuse = true;
        break;
    case O_MARCH:
        return read_march(s, &o->march, status);
    case O_CC:
        o->cc = s;
        break;
    case O_HELP:
        print_help();
        *status = 0;
        return false;
    case O_VERSION:
        printf("shardcc %s\n", SHARDCC_VERSION);
        *status = 0;
        return false;
    }
    return true;
}

// `--name value` or `--name=value`; moves `*i` on.
static bool read_one(Arena *a, int argc, char **argv, int *i, Options *o, int *status)
{
    const char *word = argv[*i], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    char *name = equals ? arena_copy(a, word, (size_t)(equals - word)) : argv[*i];

    for (int k = 0; k < COUNT(table); k++) {
        if (strcmp(name, table[k].name))
            continue;
        if (!table[k].value && equals)
            return complain(status, "%s takes no value", name);
        if (!table[k].value)
            return set(a, o, table[k].id, NULL, status);
        if (!equals && *i + 1 >= argc)
            return complain(status, "%s needs a value: %s", name, table[k].value);
        return set(a, o, table[k].id, equals ? equals + 1 : argv[++*i], status);
    }
    return unknown(name, status);
}

bool options_read(Arena *a, int argc, char **argv, Options *o, int *status)
{
    *o = (Options){.accumulate = 1, .march = "native", .cc = "cc"};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            if (!read_one(a, argc, argv, &i, o, status))
                return false;
        } else if (o->input) {
            return complain(status, "one model at a time: %s and %s", o->input, argv[i]);
        } else {
            o->input = argv[i];
        }
    }
    if (!o->input)
        return complain(status, "no model given (see shardcc --help)");
    if (o->optimizer && !o->loss)
        return complain(status, "--optimizer needs --loss");
    if (o->loss && !o->optimizer)
        return complain(status, "--loss needs --optimizer");
    return true;
}

static void add(Text *t, const char *name, const char *value)
{
    bool quote = strpbrk(value, " ()*?[]'\"$&;<>|\\") != NULL;
    text_printf(t, quote ? " %s '%s'" : " %s %s", name, value);
}

static void add_all(Text *t, const char *name, const Strings *s)
{
    for (int i = 0; i < s->n; i++)
        add(t, name, s->s[i]);
}

char *options_text(Arena *a, const Options *o)
{
    Text t = {0};
    char number[32];

    text_printf(&t, "shardcc %s", base_name(o->input));
    if (o->loss)
        add(&t, "--loss", o->loss);
    if (o->optimizer)
        add(&t, "--optimizer", o->optimizer);
    snprintf(number, sizeof number, "%.9g", o->clip_norm);
    if (o->clip_norm > 0)
        add(&t, "--clip-norm", number);
    snprintf(number, sizeof number, "%d", o->accumulate);
    if (o->accumulate > 1)
        add(&t, "--accumulate", number);
    add_all(&t, "--bind", &o->bind);
    add_all(&t, "--shape", &o->shape);
    add_all(&t, "--freeze", &o->freeze);
    add_all(&t, "--no-decay", &o->no_decay);
    if (o->frozen_batch_norm)
        text_printf(&t, " --frozen-batch-norm");
    if (o->no_fuse)
        text_printf(&t, " --no-fuse");
    add(&t, "--march", o->march);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    for (char *c = s; *c; c++)  // it goes into a comment
        if (*c < ' ' || *c > '~' || *c == '\\' || *c == '?')
            *c = '_';
    return s;
}
