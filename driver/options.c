// The options of a compilation: one table serves parsing, help and suggestions.
#include <string.h>

#include "driver/internal.h"

typedef enum OptionId {
    O_OUTPUT,
    O_LOSS,
    O_OPTIMIZER,
    O_CLIP,
    O_ACCUMULATE,
    O_FREEZE,
    O_NO_DECAY,
    O_PADDING,
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
    O_CLUSTER,
    O_RANKS,
    O_MESH,
    O_MEMORY,
    O_VERSION,
    O_HELP = OPTION_HELP
} OptionId;

static const OptionDef table[] = {
    {NULL, 0, NULL, "Training"},
    {"--loss", O_LOSS, "TEXT",
     "cross_entropy(x, labels, ignore_index=-100, label_smoothing=0),\n"
     "mse(x, y), l1(x, y), bce_with_logits(x, y), or a scalar output;\n"
     "x is a value of the model, labels and y are inputs that it lacks"},
    {"--optimizer", O_OPTIMIZER, "TEXT",
     "sgd, adam, adamw, adagrad or lamb, with options as\n"
     "adamw(lr=3e-4, weight_decay=0.1)"},
    {"--clip-norm", O_CLIP, "X", "scale gradients so that their 2-norm is at most X"},
    {"--accumulate", O_ACCUMULATE, "K", "split the batch into K micro-batches"},
    {"--freeze", O_FREEZE, "GLOB", "parameters that are not trained (* any text, ? any letter)"},
    {"--no-decay", O_NO_DECAY, "GLOB", "parameters without weight decay"},
    {"--padding-index", O_PADDING, "GLOB=K",
     "row K of these embedding tables gets no gradient, as PyTorch's\n"
     "padding_idx, where the exporter doesn't tell"},
    {"--frozen-batch-norm", O_FROZEN_BN, NULL, "batch norm on its running statistics"},
    {NULL, 0, NULL, "Shapes"},
    {"--bind", O_BIND, "DIM=N", "the size of a named dim: batch=4"},
    {"--shape", O_SHAPE, "INPUT=N,N", "the shape of an input: input_ids=4,64"},
    {NULL, 0, NULL, "What is written"},
    {"-o", O_OUTPUT, "NAME",
     "the trainer, with NAME.c and NAME.safetensors beside it\n"
     "(the model's name, here); see --emit for what else it is"},
    {"--emit", O_EMIT, "WHAT",
     "ir, program, c: that text instead, to -o or to stdout;\n"
     "source: a folder that make builds where shardcc isn't"},
    {"--no-weights", O_NO_WEIGHTS, NULL, "no NAME.safetensors"},
    {"--init", O_INIT, "normal(STD)", "the trainer draws weights when there is no file of them"},
    {"--dump-after", O_DUMP, "PASS", "the graph after a pass, to -o or to stdout, and no more"},
    {NULL, 0, NULL, "The C compiler"},
    {"--cc", O_CC, "PROGRAM", "which one (cc)"},
    {"--march", O_MARCH, "CPU", "what to compile for: native (this one), x86-64-v3, ..."},
    {"--no-fuse", O_NO_FUSE, NULL, "every operator on its own"},
    {NULL, 0, NULL, "Ranks and their machines"},
    {"--ranks", O_RANKS, "N", "a program of N ranks, which mpirun -n N starts"},
    {"--mesh", O_MESH, "MESH", "the ranks as a grid: 2x4, or dp=2,tp=4; else the best one"},
    {"--memory", O_MEMORY, "SIZE", "of each rank, as 70GiB; else what the devices have"},
    {"--cluster", O_CLUSTER, "FILE.json",
     "what it can do, as shardcc detect wrote it, or local, a100xN, h100xN: --profile\n"
     "of the trainer then prints how long each call was to take beside how long it took"},
    {NULL, 0, NULL, "This program"},
    {"--help", O_HELP, NULL, "this text"},
    {"--version", O_VERSION, NULL, "its version"},
};

static void push(Arena *a, Strings *list, const char *s)
{
    *arena_push(a, list->s, list->n, list->cap) = s;
}

static bool set(Arena *a, void *to, int id, const char *s, int *status)
{
    Options *o = to;

    switch ((OptionId)id) {
    case O_OUTPUT:
        o->output = s;
        return *s || complain(status, "-o: an empty name");
    case O_LOSS:
        o->loss = s;
        return check_loss(s, status);
    case O_OPTIMIZER:
        o->optimizer = s;
        return check_optimizer(s, status);
    case O_CLIP:
        return read_number("--clip-norm", s, 0, &o->clip_norm, status);
    case O_ACCUMULATE:
        return read_count("--accumulate", s, 1 << 20, &o->accumulate, status);
    case O_FREEZE:
        push(a, &o->freeze, s);
        break;
    case O_NO_DECAY:
        push(a, &o->no_decay, s);
        break;
    case O_PADDING:
        push(a, &o->padding, s);
        return check_padding(s, status);
    case O_FROZEN_BN:
        o->frozen_batch_norm = true;
        break;
    case O_BIND:
        push(a, &o->bind, s);
        return check_bind(s, status);
    case O_SHAPE:
        push(a, &o->shape, s);
        return check_shape(s, status);
    case O_NO_WEIGHTS:
        o->no_weights = true;
        break;
    case O_INIT:
        return read_init(s, &o->init_std, status);
    case O_EMIT:
        return read_emit(s, &o->emit, status);
    case O_DUMP:
        o->dump_after = s;
        return check_pass(s, status);
    case O_NO_FUSE:
        o->no_fuse = true;
        break;
    case O_MARCH:
        return read_march(s, &o->march, status);
    case O_CC:
        o->cc = s;
        return *s || complain(status, "--cc: an empty name");
    case O_CLUSTER:
        o->cluster = s;
        return *s || complain(status, "--cluster: an empty name");
    case O_RANKS:
        return read_count("--ranks", s, MOST_RANKS, &o->ranks, status);
    case O_MESH:
        o->mesh = s;
        return *s || complain(status, "--mesh: an empty mesh");
    case O_MEMORY:
        return read_bytes("--memory", s, &o->memory, status);
    case O_HELP:
        break;
    case O_VERSION:
        printf("shardcc %s\n", SHARDCC_VERSION);
        *status = 0;
        return false;
    }
    return true;
}

static bool word(void *to, const char *s, int *status)
{
    Options *o = to;

    if (o->input)
        return complain(status, "one model at a time: '%s' and '%s'", o->input, s);
    o->input = s;
    return true;
}

static const Command command = {
    "shardcc MODEL.onnx [-o NAME] --loss TEXT --optimizer TEXT [OPTIONS]\n"
    "shardcc detect [-o FILE.json]\n\n"
    "Compiles a traced model into a trainer: one program, its C text, its weights.\n"
    "Without --loss and --optimizer the program only predicts. MODEL.ir, a graph as\n"
    "--emit ir prints it, is an input like any other. detect measures this machine.\n",
    table, COUNT(table), set, word};

bool options_read(Arena *a, int argc, char **argv, Options *o, int *status)
{
    *o = (Options){.accumulate = 1, .march = "native", .cc = "cc"};
    return command_read(&command, a, argc, argv, o, status) && check_together(a, o, status);
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
    add_all(&t, "--padding-index", &o->padding);
    if (o->frozen_batch_norm)
        text_printf(&t, " --frozen-batch-norm");
    if (o->no_fuse)
        text_printf(&t, " --no-fuse");
    snprintf(number, sizeof number, "normal(%.9g)", o->init_std);
    if (o->init_std > 0)
        add(&t, "--init", number);
    snprintf(number, sizeof number, "%d", o->ranks);
    if (o->ranks > 1)
        add(&t, "--ranks", number);
    if (o->mesh)
        add(&t, "--mesh", o->mesh);
    snprintf(number, sizeof number, "%" PRId64, o->memory);
    if (o->memory)
        add(&t, "--memory", number);
    add(&t, "--march", o->march);
    if (o->cluster)
        add(&t, "--cluster", base_name(o->cluster));
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    for (char *c = s; *c; c++)  // it goes into a comment
        if (*c < ' ' || *c > '~' || *c == '\\' || *c == '?')
            *c = '_';
    return s;
}
