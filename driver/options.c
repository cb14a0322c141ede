// The options of a compilation and of a plan. One table serves parsing, help, suggestions, and the
// texts that repeat options.
#include <string.h>

#include "analyzer/sharding/sharding.h"
#include "driver/internal.h"
#include "runtime/rt_workspace.h"

static const char passes_help[] = "print the graph after this pass, to -o or stdout, and stop:\n"
#define GRAPH_PASS(name, needs, text) #name " "
#define PLAN_PASS(name, text) #name " "
#include "compile/passes.def"
    ;

static const char targets_help[] = "what the program runs on; the first is the default:\n"
#define TARGET(name, text) #name " (" text ") "
#include "analyzer/target/targets.def"
#undef TARGET
    ;

static const char plan_targets_help[] =
    "what the ranks run on (GPUs if the cluster's devices are):\n"
#define TARGET(name, text) #name " (" text ") "
#include "analyzer/target/targets.def"
#undef TARGET
    ;

static const char transports_help[] = "what brings messages from rank to rank; the default is the "
                                      "first, for GPUs the first one without a launcher:\n"
#define RT_TRANSPORT(name, ...) #name " "
#include "runtime/rt_transports.def"
#undef RT_TRANSPORT
    ;

static const char optimizers_help[] =
    "one of these, with options as adamw(lr=3e-4, weight_decay=0.1):\n"
#define OPTIMIZER(name) #name " "
#include "ir/optimizers.def"
    ;

// Bits of the commands that share the table.
enum { COMPILE = 1, PLAN = 2, PROFILE = 4 };

#define AT(field) offsetof(Options, field)

// In the order in which texts repeat them.
static const OptionDef table[] = {
    {"Training"},
    {"--loss", "TEXT", &option_text, AT(request.loss),
     "cross_entropy(x, labels, ignore_index=-100, label_smoothing=0),\n"
     "mse(x, y), l1(x, y), bce_with_logits(x, y), or a scalar output;\n"
     "x is a value of the model, labels and y are inputs that it lacks",
     .check = check_loss, .needs = "--optimizer", .use = USE_GRAPH},
    {"--optimizer", "TEXT", &option_text, AT(request.optimizer), optimizers_help,
     .check = check_optimizer, .needs = "--loss", .use = USE_GRAPH},
    {"--clip-norm", "X", &option_number, AT(request.clip_norm),
     "scale gradients so that their 2-norm is at most X", .use = USE_GRAPH},
    {"--loss-scale", "WHAT", &option_text, AT(request.loss_scale),
     "the factor of the loss while its gradients are made, which are divided by\n"
     "it: none, a number, or dynamic (so with --precision f16), which begins\n"
     "with 65536, doubles after 2000 good steps, and halves after one whose\n"
     "gradients aren't finite. Such steps are skipped (docs/trainer.md). With\n"
     "dynamic(init_scale=X, growth_factor=X, backoff_factor=X,\n"
     "growth_interval=N) others",
     .check = check_loss_scale, .use = USE_GRAPH},
    {"--accumulate", "K", &option_count, AT(request.accumulate),
     "split the batch into K micro-batches; auto: as many as --memory needs\n"
     "and the shortest step has, one with batch statistics\n"
     "and where the loss isn't a sum over samples",
     .max = MAX_ACCUMULATE, .absent = 1, .word = "auto", .use = USE_GRAPH},
    {"Profile", .commands = PROFILE},
    {"--by", "WHAT", &option_by, AT(by),
     "block (the default) or operator: the work of a step, added up;\n"
     "time: the bytes in use while it runs, and what holds them at the peak",
     .commands = PROFILE, .is_of_text = true},
    {"--csv", "FILE", &option_text, AT(csv), "write all statements and buffers as a table",
     .commands = PROFILE, .is_of_text = true},
    {"--svg", "FILE", &option_text, AT(svg), "draw the bytes in use over the step",
     .commands = PROFILE, .is_of_text = true},
    {"Shapes"},
    {"--bind", "DIM=N", &option_texts, AT(request.bind), "the size of a named dim: batch=4",
     .check = check_bind, .use = USE_GRAPH, .commands = COMPILE | PLAN},
    {"--bind", "DIM=N", &option_texts, AT(request.bind),
     "the size of a named dim: batch=4; DIM=A..B with --memory: finds the largest\n"
     "size with which the program fits",
     .check = check_bind_or_range, .commands = PROFILE},
    {"--shape", "INPUT=N,N", &option_texts, AT(request.shape),
     "the shape of an input: input_ids=4,64", .check = check_shape, .use = USE_GRAPH},
    {"Parameters"},
    {"--weights", "PATH", &option_source, AT(weights),
     "fill or replace the model's weights from a file of safetensors, an index\n"
     "of shards or a folder, by names of which either may have a prefix more",
     .use = USE_PROGRAM},
    {"--weight-map", "FILE", &option_source, AT(weight_map),
     "which tensors of --weights a parameter is made of, where names don't tell:\n"
     "lines as NAME = stack(experts.{0..7}.w) or transpose(w) (docs/weights.md)",
     .needs = "--weights", .use = USE_PROGRAM},
    {"--freeze", "GLOB", &option_texts, AT(request.freeze),
     "parameters that are not trained (* any text, ? any letter)", .use = USE_GRAPH},
    {"--no-decay", "GLOB", &option_texts, AT(request.no_decay), "parameters without weight decay",
     .use = USE_GRAPH},
    {"--padding-index", "GLOB=K", &option_texts, AT(request.padding),
     "embedding tables whose row K gets no gradient, as with PyTorch's\n"
     "padding_idx, which an exporter may lose",
     .check = check_padding, .use = USE_GRAPH},
    {"--tie", "A=B", &option_texts, AT(request.tie),
     "initializer B is A: one parameter that the file has twice", .check = check_tie,
     .use = USE_GRAPH},
    {"--stop-gradient", "GLOB", &option_texts, AT(request.stop),
     "values and modules through which no gradient flows: no_grad blocks, and\n"
     "what detach() an exporter has dropped",
     .use = USE_GRAPH},
    {"--frozen-batch-norm", NULL, &option_flag, AT(request.frozen_batch_norm),
     "batch norms use their running statistics", .use = USE_GRAPH},
    {"Precision"},
    {"--precision", "TYPE", &option_precision, AT(request.precision),
     "what products read: f32, bf16 or f16 (as the model's file has its\n"
     "parameters); they sum in f32, and parameters, gradients, states and all\n"
     "other operators stay in f32",
     .use = USE_GRAPH},
    {"--keep-f32", "GLOB", &option_texts, AT(request.keep_f32),
     "modules and parameters whose products stay in f32", .needs = "--precision", .use = USE_GRAPH},
    {"--reduce", "TYPE", &option_reduce, AT(request.reduce),
     "the type in which ranks send gradients to add them up: f32 or bf16, half\n"
     "of the bytes; each rank's part is rounded, to 8 bits (f32)",
     .needs = "--ranks", .use = USE_GRAPH},
    {"Passes"},
    {"--no-fuse", NULL, &option_flag, AT(request.no_fuse),
     "compile every operator on its own, without fused groups", .use = USE_GRAPH},
    {"--recompute", "WHAT", &option_texts, AT(request.recompute),
     "kernels that run again in the backward part, to keep less: none (the\n"
     "default without --memory), full, or BLOCK=N: the first N layers of a\n"
     "repeated block keep the least; several with commas. chain: whole stages\n"
     "run again as often as is best for --memory, on one rank",
     .check = check_recompute, .use = USE_PROGRAM},
    {"--dump-after", "PASS", &option_text, AT(dump_after), passes_help, .check = check_pass,
     .commands = COMPILE},
    {"--verify", NULL, &option_flag, AT(request.verify),
     "check after each pass that the graph computes what it did before, on drawn\n"
     "data; seconds for small models, of large ones the form alone is checked",
     .commands = COMPILE},
    {"Output", .commands = COMPILE | PLAN},
    {"-o", "FILE", &option_text, AT(output),
     "the plan file (the model's name with .plan.json, in this folder)", .commands = PLAN},
    {"-o", "NAME", &option_text, AT(output),
     "the trainer (the model's name, in this folder); NAME.c and\n"
     "NAME.safetensors are written next to it, and NAME.cu for a GPU; --emit\n"
     "writes other forms",
     .commands = COMPILE, .is_of_text = true},
    {"--emit", "WHAT", &option_emit, AT(emit),
     "write another form instead of a trainer. ir, program, c, cu (a GPU's\n"
     "kernels): a text, to -o or stdout. source: a folder that make builds\n"
     "without shardcc",
     .commands = COMPILE},
    {"--no-weights", NULL, &option_flag, AT(no_weights), "don't write NAME.safetensors",
     .commands = COMPILE, .is_of_text = true},
    {"--init", "normal(STD)", &option_init, AT(init_std),
     "without a file of weights the trainer draws random ones", .use = USE_PROGRAM,
     .commands = COMPILE, .is_of_text = true},
    {"Ranks"},
    {"--ranks", "N[,N...]", &option_ranks, AT(request.ranks),
     "compile for N ranks, which mpirun -n N starts; 8,6,4 also makes NAME.6 and\n"
     "NAME.4 for fewer ranks, with the same weights",
     .max = MAX_MESH_RANKS, .enough = 2, .use = USE_PROGRAM, .commands = COMPILE},
    {"--ranks", "N", &option_count, AT(request.ranks), "compile for N ranks", .max = MAX_MESH_RANKS,
     .enough = 2, .commands = PROFILE},
    {"--ranks", "N", &option_count, AT(request.ranks), "how many ranks (one for each device)",
     .max = MAX_MESH_RANKS, .commands = PLAN},
    {"--transport", "TRANSPORT", &option_transport, AT(transport), transports_help,
     .needs = "--ranks", .use = USE_PROGRAM, .commands = COMPILE, .is_of_text = true},
    {"--plan", "FILE.json", &option_text, AT(request.plan),
     "compile this plan of shardcc plan, with the options that it was made for;\n"
     "entries that you edited stay fixed, and a search chooses all others again",
     .commands = COMPILE | PROFILE},
    {"--mesh", "MESH", &option_text, AT(request.mesh),
     "the ranks as a grid: 2x4, or dp=2,tp=4 (the best one)", .check = check_mesh,
     .needs = "--ranks", .use = USE_PROGRAM},
    {"--pin", "GLOB=SPEC", &option_texts, AT(request.pin),
     "fix the storage spec of values by their names: 'h.*.fc.weight=[-,tp]',\n"
     "or the strategy of a node: 'v505=m:dp n:tp'; the axes are those of --mesh",
     .check = check_pin, .needs = "--mesh", .use = USE_PROGRAM},
    {"--chain", "FILE.json", &option_text, AT(chain),
     "write the chain of stages of the plan's program (docs/chain.md), and say what\n"
     "its best schedule would save; with --ranks 1 there is no plan",
     .commands = PLAN},
    {"--plan-preset", "TEXT", &option_text, AT(request.preset),
     "use a known plan: ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses,\n"
     "2d, 2.5d, 3d, or several with their ranks: ddp=2,megatron=4",
     .check = check_preset, .needs = "--ranks", .use = USE_PROGRAM},
    {"--memory", "SIZE", &option_bytes, AT(request.memory),
     "the memory of each rank, as 70GiB (with ranks all that its device has):\n"
     "kernels run again as far as it needs, unless --recompute says which",
     .use = USE_PROGRAM},
    {"--threads", "N", &option_count, AT(request.threads),
     "how many threads of a rank compute at most (64): kernels need less memory\n"
     "for fewer, and the trainer refuses more",
     .max = RT_MAX_THREADS, .use = USE_PROGRAM},
    {"Target"},
    {"--target", "TARGET", &option_target, AT(request.target), targets_help, .use = USE_PROGRAM,
     .commands = COMPILE | PROFILE},
    {"--target", "TARGET", &option_target, AT(request.target), plan_targets_help, .commands = PLAN},
    {"--gpu", "LIST", &option_text, AT(gpus),
     "the GPUs to compile kernels for (sm_80,sm_90); newer ones than the last\n"
     "compile its code when the program starts",
     .check = check_gpus, .use = USE_PROGRAM, .commands = COMPILE, .target = &target_cuda,
     .is_of_text = true},
    {"--cuda", "FOLDER", &option_text, AT(cuda),
     "the toolkit of CUDA, with bin/nvcc (that of PATH, or /usr/local/cuda)", .commands = COMPILE,
     .target = &target_cuda, .is_of_text = true},
    {"The C compiler", .commands = COMPILE},
    {"--cc", "PROGRAM", &option_text, AT(cc), "the C compiler to call (cc)", .commands = COMPILE,
     .is_of_text = true},
    {"--march", "CPU", &option_text, AT(march),
     "the CPU to compile for: native (this one), x86-64-v3, ...", .check = check_march,
     .use = USE_PROGRAM, .commands = COMPILE, .is_of_text = true},
    {"Cluster"},
    {"--cluster", "FILE.json", &option_file, AT(cluster),
     "the machines: a file of shardcc detect, or local, a100xN, h100xN, h200xN,\n"
     "b200xN; the trainer's --profile then prints predicted times of calls too",
     .use = USE_PROGRAM, .commands = COMPILE, .is_of_text = true},
    {"--cluster", "FILE.json", &option_text, AT(cluster),
     "predict times on these machines: a file of shardcc detect, or local,\n"
     "a100xN, h100xN, h200xN, b200xN",
     .commands = PROFILE, .is_of_text = true},
    {"--cluster", "FILE.json", &option_text, AT(cluster),
     "the machines: a file of shardcc detect, or a100xN, h100xN, h200xN, b200xN,\n"
     "or local (the default): this machine, with a device for each core",
     .commands = PLAN},
    {"This program"},
    {"--help", NULL, &option_help, 0, "print this text"},
    {"--version", NULL, &option_version, 0, "print the version"},
};

const OptionDef *option_of_graph(const char *name)
{
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].use == USE_GRAPH && !strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

const char *option_of_passes(Arena *a, const Options *o)
{
    if (o->emit == EMIT_IR)
        return "--emit ir";
    for (int i = 0; i < COUNT(table); i++) {
        Strings words = {0};
        if (table[i].type && table[i].type->words && !table[i].is_of_text &&
            table[i].commands != PLAN)
            table[i].type->words(a, &table[i], (const char *)o + table[i].offset, &words);
        if (words.n)
            return table[i].name;
    }
    return NULL;
}

const OptionDef *option_of_other_target(Arena *a, const Command *c, const void *fields,
                                        const Target *chosen)
{
    for (int i = 0; i < c->n_options; i++) {
        const OptionDef *o = &c->options[i];
        Strings words = {0};
        if (o->target && o->target != chosen)
            o->type->words(a, o, (const char *)fields + o->offset, &words);
        if (words.n)
            return o;
    }
    return NULL;
}

void options_copy_graph(Options *to, const Options *from)
{
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].use == USE_GRAPH)
            memcpy((char *)to + table[i].offset, (const char *)from + table[i].offset,
                   table[i].type->size);
}

const Command compile_options = {
    "shardcc MODEL.onnx [-o NAME] --loss TEXT --optimizer TEXT [OPTIONS]\n"
    "shardcc COMMAND --help; the commands: chain check checkpoint detect diff inspect pack plan\n"
    "profile run solve\n\n"
    "Compiles an ONNX model into a trainer: a program, its C text and its weights.\n"
    "Without --loss and --optimizer the program only predicts. The model may also be\n"
    "a graph in text form, MODEL.ir, as --emit ir prints it, or a whole program,\n"
    "MODEL.program, as --emit program prints it.\n",
    table,
    COUNT(table),
    "model",
    1,
    AT(request.input),
    .bit = COMPILE};

const Command plan_options = {
    "shardcc plan MODEL.onnx [-o FILE.json] --loss TEXT --optimizer TEXT [OPTIONS]\n\n"
    "Finds the fastest plan of a training step for the ranks of a cluster, and writes it to a\n"
    "file, which shardcc inspect shows. It needs neither the weights nor the cluster itself.\n",
    table,
    COUNT(table),
    "model",
    1,
    AT(request.input),
    "0 done, 4 no plan fits the memory, 5 stopped before a plan was found, 2 wrong\n"
    "options, 1 any other error",
    PLAN};

const Command profile_options = {
    "shardcc profile MODEL.onnx [--by WHAT] [--csv FILE] [--svg FILE] [OPTIONS]\n"
    "shardcc profile MODEL.onnx --memory 8GiB --bind batch=1..256 [OPTIONS]\n\n"
    "Shows the work of a training step, or of a prediction if there is no --loss: operations,\n"
    "bytes and, with --cluster, predicted times; and what holds the memory while it runs. The\n"
    "program is made in memory, with the options that it would be compiled with.\n\n"
    "With a range of sizes it finds the largest one with which the program fits the memory.\n",
    table,
    COUNT(table),
    "model",
    1,
    AT(request.input),
    "0 done, 4 nothing fits the memory, 2 wrong options, 1 any other error",
    PROFILE};

bool options_of_words(Arena *a, const char *const *words, int n, Options *o, int *status)
{
    char **argv = arena_array(a, char *, n + 1);

    for (int i = 0; i < n; i++)
        argv[i + 1] = arena_string(a, "%s", words[i]);
    *o = (Options){.request.accumulate = 1, .request.target = target_default()};
    return command_read(a, &compile_options, n + 1, argv, o, status);
}

static void add_words(Arena *a, const Options *o, OptionUse use, Strings *to)
{
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].use == use)
            table[i].type->words(a, &table[i], (const char *)o + table[i].offset, to);
}

Strings options_words(Arena *a, const Options *o)
{
    Strings to = {0};

    add_words(a, o, USE_GRAPH, &to);
    return to;
}

char *options_text(Arena *a, const Options *o)
{
    Strings words = options_words(a, o);
    Text t = {0};

    add_words(a, o, USE_PROGRAM, &words);
    text_printf(&t, "shardcc %s", base_name(o->request.input));
    for (int i = 0; i < words.n; i++)
        text_printf(&t, strpbrk(words.s[i], " ()*?[]'\"$&;<>|\\") ? " '%s'" : " %s", words.s[i]);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    for (char *c = s; *c; c++)  // the text goes into a C comment
        if (*c < ' ' || *c > '~' || *c == '\\' || *c == '?')
            *c = '_';
    return s;
}
