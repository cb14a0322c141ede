// The trainer's command line: one table, and an option for each hyper-parameter of the model.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/rt_transport.h"
#include "runtime/trainer/trainer_options.h"

#define AT(field) offsetof(RtOptions, field)

const RtOption rt_options[] = {
    {"--data", RT_TEXT, AT(data), 0, 0, "PATH",
     "train on this: a folder with INPUT.npy for each input of the model (first axis: samples), or "
     "a file of tokens or a folder of such files, *.bin, which are cut into windows",
     0, true},
    {"--eval-data", RT_TEXT, AT(eval_data), 0, 0, "PATH",
     "evaluate on this; without --data: evaluate and exit. Samples that don't fill a batch are "
     "left out",
     0, true},
    {"--eval-every", RT_WHOLE, AT(eval_every), 1, RT_MAX_STEPS, "N",
     "evaluate every N steps, and at the end in any case", .needs = {"--eval-data"}},
    {"--eval-samples", RT_WHOLE, AT(eval_samples), 1, INT64_MAX, "N",
     "evaluate on the first N samples of --eval-data (all)", .needs = {"--eval-data"}},
    {"--token-bytes", RT_WORD, AT(token_choice), 0, 0, "1|2|4",
     "bytes of a token in a file without a header (1 where the vocabulary is at most 256, else 2)"},
    {"--documents", RT_WORD, AT(documents), 0, 0, "packed|cut",
     "documents in files of tokens: packed ignores labels that would predict the next document "
     "from the end of one, cut lets each window lie in one document",
     .needs = {"--document-end", "--data or --eval-data"}},
    {"--document-end", RT_WHOLE, AT(document_end), 0, UINT32_MAX, "ID",
     "the token that ends a document", .needs = {"--documents"}},
    {"--steps", RT_WHOLE, AT(steps), 0, RT_MAX_STEPS, "N", "how many steps to train"},
    {"--epochs", RT_WHOLE, AT(epochs), 1, RT_MAX_STEPS, "N",
     "how often to go through the data (1); with --steps, whichever ends first"},
    {"--schedule", RT_WORD, AT(schedule), 0, 0, "constant|linear|cosine",
     "how the learning rate falls: not, or to 0 at the end"},
    {"--warmup", RT_WHOLE, AT(warmup), 0, RT_MAX_STEPS, "N",
     "steps in which the learning rate rises to its full height (0)"},
    {"--seed", RT_WHOLE, AT(seed), 0, INT64_MAX, "N",
     "the seed of the order of samples, dropout, initial weights and sampling (0)"},
    {"--no-shuffle", RT_FLAG, AT(no_shuffle), 0, 0, NULL,
     "read the samples in the order of the files"},
    {"--threads", RT_WHOLE, AT(threads), 1, INT32_MAX, "N",
     "how many threads compute (one for each core, or as many as it was compiled for)",
     RT_CAN_THREAD, true},
    {"--pin", RT_FLAG, AT(pin), 0, 0, NULL, "bind each thread to a CPU of its own", RT_CAN_THREAD,
     true},
    {"--device", RT_WHOLE, AT(gpu), 0, 4095, "N", "the number of the GPU that computes (0)",
     RT_CAN_CHOOSE, true},
    {"--no-graph", RT_FLAG, AT(no_graph), 0, 0, NULL,
     "start each kernel on its own, instead of recording a step's and replaying them",
     RT_CAN_RECORD},
    {"--tf32", RT_FLAG, AT(tf32), 0, 0, NULL,
     "round the operands of products of f32 to TF32, which tensor cores multiply", RT_CAN_ROUND},
    {"--tune", RT_FLAG, AT(tune), 0, 0, NULL,
     "time several algorithms for each product, and keep the fastest in NAME.tune next to the "
     "program, for this run and later ones",
     RT_CAN_TUNE},
    {"--libraries", RT_TEXT, AT(libraries), 0, 0, "FOLDER",
     "the folder that has libcublasLt.so.13 (else that of the toolkit that the program was built "
     "with, else where the system looks)",
     RT_CAN_LOAD, true},
    {"--load", RT_TEXT, AT(load), 0, 0, "PATH",
     "weights to start from: a file, an index of shards, a folder with one of these or with "
     "checkpoints (NAME.safetensors next to the program)",
     0, true},
    {"--save", RT_TEXT, AT(save), 0, 0, "FILE",
     "write parameters and buffers at the end, also after Ctrl-C", .needs = {"--data"}},
    {"--save-gradients", RT_TEXT, AT(save_gradients), 0, 0, "FILE",
     "write the gradients of the first step: the mean over its micro-batches, before clipping; "
     "without --steps and --epochs that step is the only one",
     .needs = {"--data"}},
    {"--checkpoint", RT_TEXT, AT(checkpoint), 0, 0, "FOLDER",
     "write checkpoints into this folder: weights, the optimizer's states and the position in the "
     "data; one at the end in any case, also after Ctrl-C",
     .needs = {"--data"}},
    {"--checkpoint-every", RT_PERIOD, AT(every), 1, RT_MAX_STEPS, "N|TIME",
     "a checkpoint every N steps, or every 90s, 10min or 2h", .needs = {"--checkpoint"}},
    {"--checkpoint-in-place", RT_FLAG, AT(in_place), 0, 0, NULL,
     "let steps wait while a checkpoint is written, instead of writing a copy meanwhile",
     .needs = {"--checkpoint"}},
    {"--keep", RT_WHOLE, AT(keep), 1, RT_MAX_STEPS, "N", "how many checkpoints are kept (2)",
     .needs = {"--checkpoint"}},
    {"--keep-best", RT_FLAG, AT(keep_best), 0, 0, NULL,
     "write a checkpoint after the evaluation with the least loss so far, and keep it",
     .needs = {"--eval-data", "--checkpoint"}},
    {"--resume", RT_FLAG, AT(resume), 0, 0, NULL,
     "go on from the last whole checkpoint in the folder of --checkpoint; from the start if there "
     "is none",
     .needs = {"--checkpoint"}},
    {"--max-time", RT_TIME, AT(max_time), 1, RT_MAX_STEPS, "TIME",
     "stop after so much time, 90s, 10min or 2h, as after SIGUSR1: save, and exit with status 75",
     .needs = {"--data"}},
    {"--spike", RT_REAL, AT(spike), 0, 0, "K",
     "watch for steps whose loss, or norm of the gradients, is more than K times its median over "
     "the last 64 steps",
     .needs = {"--data"}},
    {"--on-spike", RT_WORD, AT(on_spike), 0, 0, "warn|stop|rollback",
     "what to do then (warn); rollback: go back to the last checkpoint, and on with other data",
     .needs = {"--spike"}},
    {"--max-rollbacks", RT_WHOLE, AT(max_rollbacks), 1, RT_MAX_STEPS, "N",
     "stop at the spike after so many rollbacks (3)"},
    {"--log", RT_TEXT, AT(log), 0, 0, "FILE",
     "write one line of JSON for each step and each evaluation", 0, true,
     .needs = {"--data or --eval-data"}},
    {"--tensorboard", RT_TEXT, AT(tensorboard), 0, 0, "FOLDER",
     "write a file of events there, for TensorBoard", 0, true, .needs = {"--data or --eval-data"}},
    {"--predict", RT_TEXT, AT(predict), 0, 0, "PATH",
     "write the outputs for these inputs to the file of -o; data as for --data, or the .npy of the "
     "only input",
     0, true, .needs = {"-o"}},
    {"-o", RT_TEXT, AT(out), 0, 0, "FILE.npz", "the file that --predict writes",
     .needs = {"--predict"}},
    {"--generate", RT_WHOLE, AT(generate), 1, RT_MAX_STEPS, "N",
     "print N more tokens after the prompt"},
    {"--prompt", RT_TEXT, AT(prompt), 0, 0, "TEXT",
     "the text to continue; numbers of tokens if the vocabulary is larger than 256",
     .needs = {"--generate"}},
    {"--temperature", RT_REAL, AT(temperature), 0, 0, "T",
     "how freely to sample (1); 0: always the likeliest token"},
    {"--no-overlap", RT_FLAG, AT(no_overlap), 0, 0, NULL,
     "finish each collective before going on, instead of computing meanwhile"},
    {"--spawn", RT_WHOLE, AT(spawn), 1, 4096, "N",
     "start all N ranks on this host, and end them together", RT_CAN_SPAWN},
    {"--rank", RT_WHOLE, AT(rank), 0, 1 << 20, "N",
     "the number of this rank, from 0, where no launcher tells it (torchrun, srun and mpirun do)",
     RT_CAN_SPAWN, true},
    {"--size", RT_WHOLE, AT(size), 1, 1 << 20, "N", "how many ranks there are, with --rank",
     RT_CAN_SPAWN},
    {"--master", RT_TEXT, AT(master), 0, 0, "HOST:PORT",
     "where rank 0 is, and a port that is free there: all ranks meet there", RT_CAN_SPAWN, true},
    {"--interface", RT_TEXT, AT(interface), 0, 0, "NAME",
     "the network interface by which other ranks reach this one (the one that leads to rank 0)",
     RT_CAN_SPAWN, true},
    {"--timeout", RT_WHOLE, AT(timeout), 1, RT_MAX_STEPS, "SECONDS",
     "how long a rank may wait for another one before it ends the job (60)"},
    {"--info", RT_FLAG, AT(info), 0, 0, NULL, "describe the program and exit", 0, true},
    {"--check-arena", RT_FLAG, AT(check_arena), 0, 0, NULL,
     "fill unused memory with NaN, to find reads and writes outside live ranges", RT_CAN_WATCH},
    {"--profile", RT_FLAG, AT(profile), 0, 0, NULL,
     "print at the end how long each module and each call takes in a step", 0, true,
     .needs = {"--data"}},
    {"--trace", RT_TEXT, AT(trace), 0, 0, "FILE.json",
     "write the calls of the last step as Chrome trace events (ui.perfetto.dev shows them)", 0,
     true, .needs = {"--data"}},
    {"--quiet", RT_FLAG, AT(quiet), 0, 0, NULL, "print errors only", 0, true},
    {"--help", RT_FLAG, AT(help), 0, 0, NULL, "print this text", 0, true},
};
const int rt_n_options = sizeof rt_options / sizeof *rt_options;

bool rt_has_option(const RtModel *m, const RtOption *x)
{
    const RtTransportRow *row = m->transport ? rt_transport_find(m->transport->name) : NULL;
    unsigned can = m->device->can | (row && row->can_spawn ? RT_CAN_SPAWN : 0);

    return !x->of || can & x->of;
}

bool rt_is_option(const RtTensor *t)
{
    static const char *const own[] = {"step", "step_index", "seed", "micro"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], t->name) == 0)
            return false;
    return t->role == RT_HYPER;
}

void rt_option_name(const RtTensor *t, char *to, size_t capacity)
{
    snprintf(to, capacity, "--%s", t->name);
    for (char *c = to; *c; c++)
        *c = *c == '_' ? '-' : *c;
}

// ---- values ----

static bool set_whole(const RtModel *m, const RtOption *x, const char *text, int64_t *to)
{
    char *end;

    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end != text && !*end && !errno && v >= x->least && v <= x->most) {
        *to = v;
        return true;
    }
    if (x->most < RT_MAX_STEPS)
        return rt_error(m, "%s: '%s' is not a whole number from %lld to %lld", x->name, text,
                        (long long)x->least, (long long)x->most);
    return rt_error(m, "%s: '%s' is not a whole number of at least %lld", x->name, text,
                    (long long)x->least);
}

static bool set_real(const RtModel *m, const char *name, const char *text, double *to)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !isfinite(v))
        return rt_error(m, "%s: '%s' is not a number", name, text);
    *to = v;
    return true;
}

// "90s", "10min" or "2h", and "500" as steps.
static bool read_period(const RtOption *x, const char *text, RtPeriod *to)
{
    static const struct {
        const char *name;
        int seconds;
    } units[] = {{"", 0}, {"s", 1}, {"min", 60}, {"h", 3600}};
    char *end;

    errno = 0;
    long long v = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].name) == 0 && !errno && v >= x->least &&
            v <= x->most) {
            *to = units[i].seconds ? (RtPeriod){0, (double)v * units[i].seconds} : (RtPeriod){v, 0};
            return true;
        }
    return false;
}

static bool set_period(const RtModel *m, const RtOption *x, const char *text, RtPeriod *to)
{
    return read_period(x, text, to) ||
           rt_error(m,
                    "%s: '%s' is neither a number of steps, as 500, nor a time, as 90s, 10min "
                    "or 2h",
                    x->name, text);
}

static bool set_time(const RtModel *m, const RtOption *x, const char *text, double *to)
{
    RtPeriod p;

    if (!read_period(x, text, &p) || p.steps)
        return rt_error(m, "%s: '%s' is not a time, as 90s, 10min or 2h", x->name, text);
    *to = p.seconds;
    return true;
}

// Sets *to to the index of `text` among the words of x->value, as in "constant|linear|cosine".
static bool set_word(const RtModel *m, const RtOption *x, const char *text, int64_t *to)
{
    enum { WORDS = 4, CAPACITY = 16 };
    char words[WORDS][CAPACITY];
    const char *names[WORDS];
    int n = 0;

    for (const char *at = x->value; *at && n < WORDS; n++) {
        int length = (int)strcspn(at, "|");

        snprintf(words[n], CAPACITY, "%.*s", length, at);
        names[n] = words[n];
        if (strcmp(words[n], text) == 0) {
            *to = n;
            return true;
        }
        at += length + (at[length] == '|');
    }
    const char *suggestion = rt_nearest(text, names, n);
    if (suggestion)
        return rt_error(m, "%s: '%s' is not one of %s (did you mean '%s'?)", x->name, text,
                        x->value, suggestion);
    return rt_error(m, "%s: '%s' is not one of %s", x->name, text, x->value);
}

static bool set_option(const RtModel *m, RtOptions *o, const RtOption *x, const char *text)
{
    void *field = (char *)o + x->at;

    switch (x->kind) {
    case RT_FLAG:
        *(bool *)field = true;
        return true;
    case RT_TEXT:
        *(const char **)field = text;
        return true;
    case RT_WHOLE:
        return set_whole(m, x, text, field);
    case RT_WORD:
        return set_word(m, x, text, field);
    case RT_PERIOD:
        return set_period(m, x, text, field);
    case RT_TIME:
        return set_time(m, x, text, field);
    case RT_REAL:
        return set_real(m, x->name, text, field) &&
               (*(double *)field >= 0 || rt_error(m, "%s: '%s' is less than 0", x->name, text));
    }
    return false;
}

// ---- names ----

static bool unknown(const RtModel *m, const char *name)
{
    enum { CAPACITY = 48 };
    const char **names = rt_alloc((size_t)(rt_n_options + m->n_tensors), sizeof *names);
    char(*hyper)[CAPACITY] = rt_alloc((size_t)m->n_tensors, CAPACITY);
    int n = 0;

    for (int i = 0; i < rt_n_options; i++)
        if (rt_has_option(m, &rt_options[i]))
            names[n++] = rt_options[i].name;
    for (int i = 0; i < m->n_tensors; i++)
        if (rt_is_option(&m->tensors[i])) {
            rt_option_name(&m->tensors[i], hyper[i], CAPACITY);
            names[n++] = hyper[i];
        }
    const char *suggestion = rt_nearest(name, names, n);
    if (name[0] != '-')
        rt_error(m, "unexpected argument '%s'", name);
    else if (suggestion)
        rt_error(m, "unknown option '%s' (did you mean '%s'?)", name, suggestion);
    else
        rt_error(m, "unknown option '%s'; --help lists them", name);
    free(names);
    free(hyper);
    return false;
}

// The option of that name; else sets *hyper to the index of the hyper-parameter in the model's
// tensors.
static const RtOption *find_option(const RtModel *m, const char *name, int *hyper)
{
    *hyper = -1;
    for (int i = 0; i < rt_n_options; i++)
        if (strcmp(rt_options[i].name, name) == 0)
            return &rt_options[i];
    for (int i = 0; i < m->n_tensors; i++) {
        char own[64];

        if (!rt_is_option(&m->tensors[i]))
            continue;
        rt_option_name(&m->tensors[i], own, sizeof own);
        if (strcmp(own, name) == 0)
            *hyper = i;
    }
    return NULL;
}

static bool refuse(const RtModel *m, const char *name, unsigned of)
{
    if (of == RT_CAN_SPAWN && m->transport)
        return rt_error(m,
                        "%s: the ranks of this program talk by %s and need %s: --transport tcp "
                        "compiles one whose ranks start without it",
                        name, m->transport->name, m->transport->launcher);
    if (of == RT_CAN_SPAWN)
        return rt_error(m, "%s: this program has one rank: compile it with --ranks", name);
    return rt_error(m, "%s: this program is for a %s, which doesn't have it", name,
                    m->device->kind);
}

// Reads argv[*i], "--name value" or "--name=value".
static bool parse_one(RtOptions *o, const RtModel *m, int argc, char **argv, int *i)
{
    char name[64];
    const char *arg = argv[*i], *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    int hyper;

    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - arg : 63), arg);
    const RtOption *x = find_option(m, name, &hyper);
    if (!x && hyper < 0)
        return unknown(m, name);
    if (x && !rt_has_option(m, x))
        return refuse(m, name, x->of);
    bool is_flag = x && x->kind == RT_FLAG;
    if (is_flag && equals)
        return rt_error(m, "%s takes no value", name);
    const char *text = equals ? equals + 1 : NULL;
    if (!is_flag && !equals) {
        if (*i + 1 >= argc)
            return rt_error(m, "%s needs a value", name);
        text = argv[++*i];
    }
    return x ? set_option(m, o, x, text) : set_real(m, name, text, &o->hyper[hyper]);
}

// ---- options that need others ----

// The options if none is given.
static const RtOptions absent = {.steps = -1,
                                 .temperature = 1,
                                 .token_choice = -1,
                                 .documents = -1,
                                 .document_end = -1,
                                 .on_spike = -1,
                                 .rank = -1,
                                 .timeout = 60};

static bool is_given(const RtOptions *o, const RtOption *x)
{
    static const size_t size[] = {
        [RT_FLAG] = sizeof(bool),     [RT_TEXT] = sizeof(const char *),
        [RT_WHOLE] = sizeof(int64_t), [RT_REAL] = sizeof(double),
        [RT_WORD] = sizeof(int64_t),  [RT_PERIOD] = sizeof(RtPeriod),
        [RT_TIME] = sizeof(double),
    };

    return memcmp((const char *)o + x->at, (const char *)&absent + x->at, size[x->kind]) != 0;
}

// Is one of the options given that `names` lists, with " or " between them?
static bool is_any_given(const RtOptions *o, const char *names)
{
    static const char between[] = " or ";

    while (names) {
        const char *end = strstr(names, between);
        size_t n = end ? (size_t)(end - names) : strlen(names);

        for (int i = 0; i < rt_n_options; i++)
            if (strlen(rt_options[i].name) == n && strncmp(rt_options[i].name, names, n) == 0 &&
                is_given(o, &rt_options[i]))
                return true;
        names = end ? end + strlen(between) : NULL;
    }
    return false;
}

static bool check_needs(const RtOptions *o, const RtModel *m)
{
    for (int i = 0; i < rt_n_options; i++)
        for (int k = 0; k < RT_MAX_NEEDS && rt_options[i].needs[k]; k++)
            if (is_given(o, &rt_options[i]) && !is_any_given(o, rt_options[i].needs[k]))
                return rt_error(m, "%s needs %s", rt_options[i].name, rt_options[i].needs[k]);
    return true;
}

static bool check_spike(const RtOptions *o, const RtModel *m)
{
    if (o->on_spike == RT_ROLLBACK && !o->checkpoint)
        return rt_error(m, "--on-spike rollback needs --checkpoint");
    if (o->max_rollbacks && o->on_spike != RT_ROLLBACK)
        return rt_error(m, "--max-rollbacks needs --on-spike rollback");
    return o->spike == 0 || o->spike > 1 || rt_error(m, "--spike: %g is not above 1", o->spike);
}

static bool check_documents(const RtOptions *o, const RtModel *m)
{
    if (o->documents < 0)
        return true;
    if (m->vocabulary > 0 && o->document_end >= m->vocabulary)
        return rt_error(m, "--document-end: %lld is no token of the model: 0 to %lld",
                        (long long)o->document_end, (long long)m->vocabulary - 1);
    return o->documents > 0 || m->ignores ||
           rt_error(m, "--documents packed: this program's loss ignores no label, as "
                       "cross_entropy does; cut needs none");
}

static bool check_options(const RtOptions *o, const RtModel *m)
{
    bool has_lr = false;

    for (int i = 0; i < m->n_tensors; i++)
        has_lr |= m->tensors[i].role == RT_HYPER && strcmp(m->tensors[i].name, "lr") == 0;
    if (!o->data && !o->eval_data && !o->predict && !o->generate)
        return rt_error(m, "nothing to do: give --data, --eval-data, --predict or --generate; "
                           "--help lists all options");
    if (!check_needs(o, m) || !check_spike(o, m) || !check_documents(o, m))
        return false;
    if ((o->schedule || o->warmup) && !has_lr)
        return rt_error(m, "%s: the model has no learning rate",
                        o->schedule ? "--schedule" : "--warmup");
    return true;
}

int rt_options_parse(RtOptions *o, const RtModel *m, int argc, char **argv)
{
    *o = absent;
    o->hyper = rt_alloc((size_t)m->n_tensors, sizeof *o->hyper);
    for (int i = 0; i < m->n_tensors; i++)
        o->hyper[i] = NAN;
    for (int i = 1; i < argc; i++)
        if (!parse_one(o, m, argc, argv, &i))
            return 2;
    if (!o->help && !o->info && !(rt_options_check_job(o, m) && check_options(o, m)))
        return 2;
    o->token_bytes = o->token_choice < 0 ? 0 : 1 << o->token_choice;
    o->keep = o->keep ? o->keep : 2;
    o->max_rollbacks = o->max_rollbacks ? o->max_rollbacks : 3;
    if (o->save_gradients && o->steps < 0 && !o->epochs)
        o->steps = 1;
    return 0;
}

void rt_options_free(RtOptions *o)
{
    free(o->hyper);
    o->hyper = NULL;
}
