// Reads the options of a compilation. One table serves parsing, help and suggestions.
#include <string.h>

#include "analyzer/analyzer.h"
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
    O_PLAN_OUTPUT,
    O_PLAN_FILE,
    O_PIN,
    O_PRESET,
    O_VERSION,
    O_HELP = OPTION_HELP
} OptionId;

// Bits of the commands that share the table.
enum { COMPILE = 1, PLAN = 2 };

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
     "embedding tables whose row K gets no gradient, as with PyTorch's\n"
     "padding_idx, which an exporter may lose"},
    {"--frozen-batch-norm", O_FROZEN_BN, NULL, "batch norms use their running statistics"},
    {NULL, 0, NULL, "Shapes"},
    {"--bind", O_BIND, "DIM=N", "the size of a named dim: batch=4"},
    {"--shape", O_SHAPE, "INPUT=N,N", "the shape of an input: input_ids=4,64"},
    {NULL, 0, NULL, "Output"},
    {"-o", O_PLAN_OUTPUT, "FILE",
     "the plan file (the model's name with .plan.json, in this folder)", PLAN},
    {"-o", O_OUTPUT, "NAME",
     "the trainer (the model's name, in this folder); NAME.c and\n"
     "NAME.safetensors are written beside it; --emit writes other forms",
     COMPILE},
    {"--emit", O_EMIT, "WHAT",
     "write another form instead of a trainer. ir, program, c: a text,\n"
     "to -o or stdout. source: a folder that make builds without shardcc",
     COMPILE},
    {"--no-weights", O_NO_WEIGHTS, NULL, "don't write NAME.safetensors", COMPILE},
    {"--init", O_INIT, "normal(STD)", "without a file of weights the trainer draws random ones",
     COMPILE},
    {"--dump-after", O_DUMP, "PASS", "print the graph after this pass, to -o or stdout, and stop:\n"
#define GRAPH_PASS(name, needs, text) " " #name
#include "lower/passes.def"
     ,
     COMPILE},
    {NULL, 0, NULL, "The C compiler", COMPILE},
    {"--cc", O_CC, "PROGRAM", "the C compiler to call (cc)", COMPILE},
    {"--march", O_MARCH, "CPU", "the CPU to compile for: native (this one), x86-64-v3, ...",
     COMPILE},
    {"--no-fuse", O_NO_FUSE, NULL, "compile every operator on its own, without fused groups"},
    {NULL, 0, NULL, "Ranks and the cluster"},
    {"--ranks", O_RANKS, "N", "compile for N ranks, which mpirun -n N starts", COMPILE},
    {"--plan", O_PLAN_FILE, "FILE.json",
     "compile this plan of shardcc plan, with the options that it was made for;\n"
     "entries that you edited stay fixed, and a search chooses all others again",
     COMPILE},
    {"--ranks", O_RANKS, "N", "how many ranks (one for each device)", PLAN},
    {"--mesh", O_MESH, "MESH", "the ranks as a grid: 2x4, or dp=2,tp=4 (the best one)"},
    {"--pin", O_PIN, "GLOB=SPEC",
     "fix the storage spec of values by their names: 'h.*.fc.weight=[-,tp]',\n"
     "or the strategy of a node: 'v505=m:dp n:tp'; the axes are those of --mesh"},
    {"--plan-preset", O_PRESET, "TEXT",
     "use a known plan: ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses,\n"
     "2d, 2.5d, 3d, or several with their ranks: ddp=2,megatron=4"},
    {"--memory", O_MEMORY, "SIZE", "the memory of each rank, as 70GiB (all that its device has)"},
    {"--cluster", O_CLUSTER, "FILE.json",
     "the machines: a file of shardcc detect, or local, a100xN, h100xN;\n"
     "the trainer's --profile then prints predicted times of calls too",
     COMPILE},
    {"--cluster", O_CLUSTER, "FILE.json",
     "the machines: a file of shardcc detect, or a100xN, h100xN,\n"
     "or local (the default): this machine, with a device for each core",
     PLAN},
    {NULL, 0, NULL, "This program"},
    {"--help", O_HELP, NULL, "print this text"},
    {"--version", O_VERSION, NULL, "print the version"},
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
    case O_PLAN_OUTPUT:
        o->output = s;
        return *s || complain(status, "-o: the name is empty");
    case O_LOSS:
        o->loss = s;
        return check_loss(s, status);
    case O_OPTIMIZER:
        o->optimizer = s;
        return check_optimizer(s, status);
    case O_CLIP:
        return read_number("--clip-norm", s, 0, &o->clip_norm, status);
    case O_ACCUMULATE:
        return read_count("--accumulate", s, MAX_ACCUMULATE, &o->accumulate, status);
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
        return *s || complain(status, "--cc: the name is empty");
    case O_CLUSTER:
        o->cluster = s;
        return *s || complain(status, "--cluster: the name is empty");
    case O_RANKS:
        return read_count("--ranks", s, MAX_MESH_RANKS, &o->ranks, status);
    case O_MESH:
        o->mesh = s;
        return check_mesh(s, status);
    case O_PLAN_FILE:
        o->plan = s;
        return *s || complain(status, "--plan: the name is empty");
    case O_PIN:
        push(a, &o->pin, s);
        return check_pin(s, status);
    case O_PRESET:
        o->preset = s;
        return check_preset(s, status);
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

static const Command compile_command = {
    "shardcc MODEL.onnx [-o NAME] --loss TEXT --optimizer TEXT [OPTIONS]\n"
    "shardcc plan | inspect | diff | detect | solve [OPTIONS]: see the --help of each\n\n"
    "Compiles an ONNX model into a trainer: a program, its C text and its weights.\n"
    "Without --loss and --optimizer the program only predicts. The model may also be\n"
    "a graph in text form, MODEL.ir, as --emit ir prints it.\n",
    table,
    COUNT(table),
    set,
    word,
    .is = COMPILE};

bool options_read(Arena *a, int argc, char **argv, Options *o, int *status)
{
    *o = (Options){.accumulate = 1, .march = "native", .cc = "cc"};
    return command_read(&compile_command, a, argc, argv, o, status) &&
           (!o->plan || plan_options_take(a, o, status)) && check_together(a, o, status);
}

bool options_of_words(Arena *a, const char *const *words, int n, Options *o, int *status)
{
    char **argv = arena_array(a, char *, n + 1);

    for (int i = 0; i < n; i++)
        argv[i + 1] = arena_string(a, "%s", words[i]);
    *o = (Options){.accumulate = 1};
    return command_read(&compile_command, a, n + 1, argv, o, status);
}

static const Command plan_options = {
    "shardcc plan MODEL.onnx [-o FILE.json] --loss TEXT --optimizer TEXT [OPTIONS]\n\n"
    "Finds the fastest plan of a training step for the ranks of a cluster, and writes it to a\n"
    "file, which shardcc inspect shows. It needs neither the weights nor the cluster itself.\n",
    table,
    COUNT(table),
    set,
    word,
    "0 done, 4 no plan fits the memory, 5 stopped before a plan was found, 2 wrong\n"
    "options, 1 any other error",
    PLAN};

bool plan_options_read(Arena *a, int argc, char **argv, Options *o, int *status)
{
    *o = (Options){.accumulate = 1, .cluster = "local"};
    return command_read(&plan_options, a, argc, argv, o, status) && check_graph(o, status);
}

static void add(Arena *a, Strings *to, const char *name, const char *value)
{
    push(a, to, name);
    push(a, to, value);
}

static void add_all(Arena *a, Strings *to, const char *name, const Strings *s)
{
    for (int i = 0; i < s->n; i++)
        add(a, to, name, s->s[i]);
}

Strings options_words(Arena *a, const Options *o)
{
    Strings to = {0};

    if (o->loss)
        add(a, &to, "--loss", o->loss);
    if (o->optimizer)
        add(a, &to, "--optimizer", o->optimizer);
    if (o->clip_norm > 0)
        add(a, &to, "--clip-norm", arena_string(a, "%.9g", o->clip_norm));
    if (o->accumulate > 1)
        add(a, &to, "--accumulate", arena_string(a, "%d", o->accumulate));
    add_all(a, &to, "--bind", &o->bind);
    add_all(a, &to, "--shape", &o->shape);
    add_all(a, &to, "--freeze", &o->freeze);
    add_all(a, &to, "--no-decay", &o->no_decay);
    add_all(a, &to, "--padding-index", &o->padding);
    if (o->frozen_batch_norm)
        push(a, &to, "--frozen-batch-norm");
    if (o->no_fuse)
        push(a, &to, "--no-fuse");
    return to;
}

char *options_text(Arena *a, const Options *o)
{
    Strings words = options_words(a, o);
    Text t = {0};

    if (o->init_std > 0)
        add(a, &words, "--init", arena_string(a, "normal(%.9g)", o->init_std));
    if (o->ranks > 1)
        add(a, &words, "--ranks", arena_string(a, "%d", o->ranks));
    if (o->mesh)
        add(a, &words, "--mesh", o->mesh);
    add_all(a, &words, "--pin", &o->pin);
    if (o->preset)
        add(a, &words, "--plan-preset", o->preset);
    if (o->memory)
        add(a, &words, "--memory", arena_string(a, "%" PRId64, o->memory));
    add(a, &words, "--march", o->march);
    if (o->cluster)
        add(a, &words, "--cluster", base_name(o->cluster));
    text_printf(&t, "shardcc %s", base_name(o->input));
    for (int i = 0; i < words.n; i++)
        text_printf(&t, strpbrk(words.s[i], " ()*?[]'\"$&;<>|\\") ? " '%s'" : " %s", words.s[i]);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    for (char *c = s; *c; c++)  // the text goes into a C comment
        if (*c < ' ' || *c > '~' || *c == '\\' || *c == '?')
            *c = '_';
    return s;
}
