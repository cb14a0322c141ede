// What the files of the trainer share. Everything hangs on one RtRun; functions that can fail say
// why on stderr and give false.
#ifndef SHARDCC_RT_INTERNAL_H
#define SHARDCC_RT_INTERNAL_H

#include "runtime/comm.h"
#include "runtime/rt.h"
#include "runtime/rt_file.h"

// ---- messages: say.c ----

// "nanogpt: error: …" on stderr, unprintable bytes as \xHH; gives false.
__attribute__((format(printf, 2, 3))) bool rt_error(const RtModel *m, const char *fmt, ...);
// One indented line that belongs to the error before it.
__attribute__((format(printf, 1, 2))) void rt_note(const char *fmt, ...);
// The nearest of `names` to `word` by edit distance, NULL if none is near.
const char *rt_nearest(const char *word, const char *const *names, int n);

// ---- options: options.c, help.c ----

typedef enum RtSchedule { RT_CONSTANT_LR, RT_LINEAR, RT_COSINE } RtSchedule;

typedef struct RtOptions {
    const char *data, *eval_data, *log, *save, *load, *save_gradients, *predict, *out, *prompt;
    int64_t steps, epochs, eval_every, warmup, schedule, seed, generate, threads, timeout;
    int64_t token_choice, token_bytes;  // the word's number, -1 if not given; 1, 2 or 4
    double temperature;
    const char *trace;
    bool no_shuffle, no_overlap, info, check_arena, pin, profile, quiet, help;
    double *hyper;  // by place in RtModel.tensors; NaN: the model's own number
} RtOptions;

// 0, or the exit status 2 after a message.
int rt_options_parse(RtOptions *o, const RtModel *m, int argc, char **argv);
void rt_options_free(RtOptions *o);

// Times the samples of a step, still a number.
#define RT_MAX_STEPS ((int64_t)1 << 40)

typedef enum RtOptionKind { RT_FLAG, RT_TEXT, RT_WHOLE, RT_REAL, RT_WORD } RtOptionKind;

typedef struct RtOption {
    const char *name;
    RtOptionKind kind;
    size_t at;            // in RtOptions
    int64_t least, most;  // RT_WHOLE
    const char *value, *help;
} RtOption;

extern const RtOption rt_options[];
extern const int rt_n_options;

// Does the trainer let the user set this hyper-parameter? Not those that it counts itself.
bool rt_is_option(const RtTensor *t);
// "--weight-decay" for weight_decay.
void rt_option_name(const RtTensor *t, char *to, size_t room);
void rt_help(const RtModel *m);
void rt_info(const RtModel *m);

// ---- tensors: tensor.c ----

const char *rt_type_name(RtType t);  // as in files: "F32"
bool rt_type_find(const char *name, RtType *t);
bool rt_type_is_float(RtType t);
// May every element of one type be put into the other, rounded at most as f64 to f32 is?
bool rt_type_converts(RtType from, RtType to);
void rt_convert(RtType to, void *y, RtType from, const void *x, int64_t n);  // x unaligned
void rt_widen(float *y, const void *x, int64_t n);                           // bf16 as f32, exact

double rt_get(RtType t, const void *p);
int64_t rt_get_int(RtType t, const void *p);
void rt_set(RtType t, void *p, double value);
void rt_set_int(RtType t, void *p, int64_t value);

int rt_layers(const RtTensor *t);  // at least 1
int64_t rt_element_bytes(const RtTensor *t);
int64_t rt_whole_count(const RtTensor *t);  // elements of one layer
int64_t rt_whole_bytes(const RtTensor *t);
// A layer as it lies in the arena, where a rank has room for chunks of it.
int64_t rt_count(const RtModel *m, const RtTensor *t);
int64_t rt_bytes(const RtModel *m, const RtTensor *t);
char *rt_place(const RtTensor *t, int layer, char *arena);
// All layers, padding and all.
void rt_fill_tensor(const RtModel *m, const RtTensor *t, char *arena, double value);
// The first of that role; NULL if there is none.
const RtTensor *rt_find(const RtTensor *t, int n, RtRole role);
// "input_ids I64[4,16]"; cut to fit.
void rt_tensor_print(const RtTensor *t, char *to, size_t room);
// The name of a file for that tensor: what a file system might not take becomes '_'.
void rt_file_name(const RtTensor *t, char *to, size_t room);

// Tensors as files know them: whole, one for each layer; `data` is the place in the arena.
typedef struct RtEntries {
    RtStored *item;
    const RtTensor **tensor;  // that each is a layer of
    int n;
    char *names;
} RtEntries;

// All of `t` whose role is in `roles`, a sum of 1 << role. Ends the program when memory runs out.
RtEntries rt_entries(const RtTensor *t, int n, unsigned roles, char *arena);
void rt_entries_free(RtEntries *e);

void *rt_alloc(size_t count, size_t size);  // zeroed; ends the program when memory runs out

// ---- pieces of tensors: tensor_shard.c ----

int64_t rt_chunk(const RtMesh *m, const RtCut *c);
RtShard rt_shard_of(const RtMesh *m, const RtCut *c, int rank);
// Of all cuts; freed by the caller.
RtShard *rt_shards(const RtModel *m, int rank);
// Is it the first of the ranks that have the same piece of the tensor?
bool rt_is_first(const RtModel *m, const RtTensor *t, int rank);

typedef struct RtRunsDim {
    int64_t extent, whole, own, at;
} RtRunsDim;

// A walk over a piece of a tensor (one layer): `count` elements from element `whole` of the tensor
// on lie in the rank's room from element `own` on. Rises in both.
//     for (RtRuns r = rt_runs(m, t, piece); rt_runs_next(&r);)
typedef struct RtRuns {
    int64_t whole, own, count;
    bool is_begun, is_ended;
    int n;
    RtRunsDim dim[RT_MAX_DIMS];  // the innermost first
} RtRuns;

RtRuns rt_runs(const RtModel *m, const RtTensor *t, const RtShard *shard);
bool rt_runs_next(RtRuns *r);
// Copies the piece out of a whole layer.
void rt_copy_shard(const RtModel *m, const RtTensor *t, const RtShard *shard, void *to,
                   const void *whole);

// ---- threads: cpu_share.c ----

// Of the CPUs that this process may use: the default number of threads, and which of the processes
// that share them it is, from 0.
typedef struct RtCpuShare {
    int threads, place;
} RtCpuShare;
// All ranks call it.
RtCpuShare rt_cpu_share(struct RtComm *c);

// ---- the system's limits: limits.c ----

// At the start: is the stack large enough? A limit for files becomes an error of write.
bool rt_limits_check(const RtModel *m);
// Are those of the other threads?
bool rt_stacks_check(const RtModel *m, int threads);

// ---- arena: arena.c ----

typedef struct RtArena {
    char *base;
    int64_t bytes;
} RtArena;

bool rt_arena_open(RtArena *a, const RtModel *m);
void rt_arena_close(RtArena *a);

// ---- a run: trainer.c ----

typedef struct RtRun {
    const RtModel *model;
    RtOptions o;
    RtArena arena;
    Rt rt;
    int rank;
    RtCpuShare share;
    int64_t step;         // those done
    int interrupted;      // the signal that asks to stop, 0 if none does; see rt_agree
    bool has_failed;      // on any rank
    char *stderr_buffer;  // what it says on stderr; NULL: that isn't held
} RtRun;

double rt_seconds(void);  // since some moment

// Sets the hyper-parameters of step `step` (from 0) and micro-batch `micro`.
void rt_set_hypers(RtRun *run, int64_t step, int64_t micro, double lr);

// ---- with the other ranks: agree.c ----

// What failed on one rank ends all, with one message. So what is said on stderr is held from the
// start, until rt_agree decides whose it is. Rank 0 says at once what it has to say.
void rt_buffer_messages(RtRun *run);
void rt_flush_messages(RtRun *run);
void rt_catch_signals(void);
// All ranks call it together: true if all are ok; then the same signal has interrupted all, or
// none. After a failure it gives false at once: every function on the way up may ask. So a rank
// that fails alone has only to return: its rt_main ends with the call that the others' next one
// waits for. It must not do so where they first wait for another message.
bool rt_agree(RtRun *run, bool ok);

// ---- outputs: collect.c ----

// Elements [first, first + count) of a tensor without layers, one after the other: on rank 0 those
// of all ranks, who all call it; what others get is nothing. `room` for twice as many, where ranks
// have pieces.
const char *rt_collect(const RtRun *run, const RtTensor *t, int64_t first, int64_t count,
                       char *room);

// ---- --check-arena: watch.c ----
// All but the first do nothing without a watch.

typedef struct RtWatch RtWatch;

void rt_watch_open(RtRun *run);
void rt_watch_close(RtWatch *w);
// The call `what` comes next.
void rt_watch_call(RtWatch *w, const char *what);
// A pass of that set begins: fills all that doesn't live on with NaN. Then inputs are put in place.
void rt_watch_begin(RtWatch *w, RtSet set);
// Is all as it should be so far: untouched what nothing may write, and nothing read where nothing
// is?
bool rt_watch_check(RtWatch *w);
// The same, and all statements have been run.
bool rt_watch_end(RtWatch *w);

// ---- weights: weights.c, init.c, save.c ----

// Parameters and buffers from that file: the same names, types and shapes, or a list of what isn't.
bool rt_weights_load(RtRun *run, const char *path);
// The path of that file: of --load, or beside the program; empty if there is none to be read.
bool rt_weights_find(const RtRun *run, char *path, size_t room);
// From there, or drawn.
bool rt_weights_start(RtRun *run);
bool rt_weights_draw(RtRun *run);

// A file of tensors, its header made in advance, so that saving allocates nothing.
typedef struct RtSaver {
    RtRun *run;
    RtEntries entries;
    char *header;
    int64_t header_bytes;
    const char *path;
    RtOut out;
    bool is_begun;
} RtSaver;

// Checks at once that a file can be written there.
bool rt_saver_open(RtSaver *s, RtRun *run, RtEntries entries, const char *path);
// All ranks together. The file is in its place, whole, when all have come to the end; on a failure
// nothing is left.
bool rt_saver_begin(RtSaver *s);
void rt_saver_put(RtSaver *s, int entry, const char *data);  // this rank's piece
bool rt_saver_end(RtSaver *s);
bool rt_saver_write(RtSaver *s);  // all of these, from the arena
void rt_saver_close(RtSaver *s);

// ---- data: data.c, tokens.c, check.c, loader.c, shuffle.c ----

// Where the rows of an input come from.
typedef struct RtColumn {
    const RtTensor *input;
    RtMap file;
    char *path;   // of `file`, if it has one of its own
    RtType type;  // in the file
    const uint8_t *rows;
    int64_t row_bytes;  // of a sample, in the file
    int64_t count;      // elements of a sample
    bool is_whole;      // the same in every batch: it has no axis of samples
    int64_t staged_at;
} RtColumn;

typedef struct RtData {
    const RtModel *model;
    const RtShard *shard;  // what of each batch this rank reads
    RtColumn *column;
    int n;
    int64_t samples, batch;  // all; those of a micro-batch
    int64_t staged_bytes;
    int64_t window;   // tokens in a sample; 0: not a file of tokens
    char *staging;    // room for one batch, for readers without a thread
    int64_t *sample;  // the samples of that batch
} RtData;

typedef enum RtUse { RT_TRAIN, RT_EVAL, RT_PREDICT } RtUse;  // RT_PREDICT needs no labels

bool rt_data_open(RtData *d, const RtModel *m, const RtShard *shard, RtUse use, const char *path,
                  int64_t token_bytes);
void rt_data_close(RtData *d);
// Gathers this rank's piece of d->batch samples; puts such a stage into the arena.
void rt_data_stage(const RtData *d, const int64_t *sample, char *staging);
void rt_data_place(const RtData *d, const char *staging, char *arena);
// Cuts a file of tokens into windows: the columns of `d`, whose inputs are known.
bool rt_tokens_open(RtData *d, const RtModel *m, RtUse use, const char *path, int64_t token_bytes);
// Is `t` the input of tokens, [batch, time]?
bool rt_is_tokens(const RtTensor *t);
int64_t rt_token_bytes(const RtModel *m);  // the default of --token-bytes

// All that a run reads: opened before anything that takes long.
typedef struct RtInputs {
    RtData train, eval, predict;
} RtInputs;

// outputs.c: may all that is asked for be written? Not over what is read, nor two to one file.
bool rt_outputs_check(const RtRun *run, const RtInputs *x);

// check.c: both report what is out of range; `sample`: the samples of the micro-batch. Indices are
// looked at when their data is in the arena, and so are the files that it came from; labels when it
// has been run.
bool rt_check_data(const RtRun *run, const RtData *d, const int64_t *sample);
bool rt_check_labels(const RtRun *run, const RtTensor *set, int n, const RtData *d,
                     const int64_t *sample);

// A permutation of [0, n): where `i` goes in that epoch.
int64_t rt_shuffle(int64_t i, int64_t n, int64_t seed, int64_t epoch);

// Stages micro-batches in a thread of its own, one ahead of the step that runs.
typedef struct RtLoader RtLoader;
// `micros` are read in all; an epoch ends after `per_epoch` samples.
RtLoader *rt_loader_start(const RtData *d, int64_t micros, int64_t per_epoch, bool shuffle,
                          int64_t seed);
// Puts the next micro-batch into the arena; its samples, valid until the next call.
const int64_t *rt_loader_next(RtLoader *l, char *arena);
void rt_loader_stop(RtLoader *l);

// ---- the loop: train.c, evaluate.c, schedule.c, log.c, progress.c ----

// True, too, when a signal ended it early: what was done is saved.
bool rt_train(RtRun *run, const RtData *data, const RtData *eval);

// The mean loss over the whole batches of `d`. False after a message, or when interrupted.
bool rt_evaluate(RtRun *run, const RtData *d, double *loss);

// The learning rate of step `step` (from 0) of `steps`.
double rt_schedule(const RtOptions *o, double lr, int64_t step, int64_t steps);

typedef struct RtReport {
    int64_t step, steps;  // from 1
    double loss, lr, grad_norm, seconds;
    bool has_norm;
} RtReport;

// JSON lines; fd -1: none.
typedef struct RtLog {
    int fd;
    int error;  // errno of the first failure
} RtLog;

bool rt_log_open(RtLog *l, const RtModel *m, const char *path);
void rt_log_step(RtLog *l, const RtReport *r);
void rt_log_eval(RtLog *l, int64_t step, double loss, int64_t samples, double seconds);
bool rt_log_close(RtLog *l, const RtModel *m, const char *path);

typedef struct RtProgress {
    bool is_quiet, is_terminal;
    double items, flops;  // of a step
    const char *unit;     // of items
    double mean_seconds;  // of a step, the latest counting most
    double last;          // when a line was last written
} RtProgress;

RtProgress rt_progress_start(const RtRun *run, const RtData *d);
void rt_progress_step(RtProgress *p, const RtReport *r);
void rt_progress_eval(RtProgress *p, int64_t step, double loss);
void rt_progress_end(RtProgress *p);
// 2300 as "2.3k".
enum { RT_SHORT = 16 };
void rt_short_number(double v, char to[RT_SHORT]);

// ---- forward only: predict.c, generate.c ----

bool rt_predict(RtRun *run, const RtData *d);
bool rt_generate(RtRun *run);

// ---- of runtime/cpu ----

// ---- how long calls take: profile.c, trace.c ----

// A call of a step, as it comes in every step.
typedef struct RtEvent {
    RtCall call;
    const char *part;       // "micro"
    double start, seconds;  // of the latest step
    double total, least;    // of the steps that count
} RtEvent;

// Steps' calls in their order. The first step doesn't count, unless it is the only one: it is
// slower.
typedef struct RtProfile {
    RtEvent *event;
    int n, cap, at;   // calls of a step; those begun
    bool is_running;  // the latest of them
    const char *part;
    int64_t steps;   // seen, the first one included
    double seconds;  // of the steps that count
    const RtComm *comm;
    int64_t sent[RT_N_EXCHANGES][RT_MAX_AXES];  // in the first step: all are alike
} RtProfile;

// The call comes next.
void rt_profile_call(RtProfile *p, const RtCall *call);
// The calls from now on are of that part of a step; NULL: there are none for now.
void rt_profile_part(RtProfile *p, const char *part);
void rt_profile_step(RtProfile *p, double seconds);  // a step is done, and took so long
// Tables by module and by call, and of what the rank sent, to stdout.
void rt_profile_print(const RtProfile *p);
void rt_profile_close(RtProfile *p);
// The latest step as Chrome trace events. Checks first that a file can be written there.
bool rt_trace_check(const RtModel *m, const char *path);
bool rt_trace_write(const RtProfile *p, const RtModel *m, const char *path);

#endif
