// Shared by the files of the trainer. RtRun holds all of a run's state. Functions that can fail
// print why on stderr and return false.
#ifndef SHARDCC_RT_INTERNAL_H
#define SHARDCC_RT_INTERNAL_H

#include "runtime/comm/comm.h"
#include "runtime/device.h"
#include "runtime/rt_file.h"

// ---- messages: say.c ----

// "nanogpt: error: …" on stderr, unprintable bytes as \xHH; gives false.
__attribute__((format(printf, 2, 3))) bool rt_error(const RtModel *m, const char *fmt, ...);
// One indented line that belongs to the error before it.
__attribute__((format(printf, 1, 2))) void rt_note(const char *fmt, ...);
// The entry of `names` that is closest to `word` by edit distance; NULL if none is close.
const char *rt_nearest(const char *word, const char *const *names, int n);

// ---- options: options.c, help.c ----

typedef enum RtSchedule { RT_CONSTANT_LR, RT_LINEAR, RT_COSINE } RtSchedule;

typedef struct RtOptions {
    const char *data, *eval_data, *log, *save, *load, *save_gradients, *predict, *out, *prompt;
    int64_t steps, epochs, eval_every, warmup, schedule, seed, generate, threads, timeout;
    int64_t token_choice, token_bytes;  // index of the word, or -1; 1, 2 or 4
    double temperature;
    const char *trace;
    bool no_shuffle, no_overlap, info, check_arena, pin, profile, quiet, help;
    double *hyper;  // indexed as RtModel.tensors; NaN: the model's default
} RtOptions;

// Returns 0, or the exit status 2 after a message.
int rt_options_parse(RtOptions *o, const RtModel *m, int argc, char **argv);
void rt_options_free(RtOptions *o);

// Upper bound of --steps, such that steps times the samples of a step fit an int64_t.
#define RT_MAX_STEPS ((int64_t)1 << 40)

typedef enum RtOptionKind { RT_FLAG, RT_TEXT, RT_WHOLE, RT_REAL, RT_WORD } RtOptionKind;

typedef struct RtOption {
    const char *name;
    RtOptionKind kind;
    size_t at;            // offset in RtOptions
    int64_t least, most;  // bounds of RT_WHOLE
    const char *value, *help;
} RtOption;

extern const RtOption rt_options[];
extern const int rt_n_options;

// May the user set this hyper-parameter? Not the ones that the trainer counts itself.
bool rt_is_option(const RtTensor *t);
// "--weight-decay" for weight_decay.
void rt_option_name(const RtTensor *t, char *to, size_t room);
void rt_help(const RtModel *m);
void rt_info(const RtModel *m);

// ---- tensors: tensor.c ----

const char *rt_type_name(RtType t);  // as in files: "F32"
bool rt_type_find(const char *name, RtType *t);
bool rt_type_is_float(RtType t);
// Can every element of type `from` be stored as `to`, rounded no worse than f64 to f32?
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
// Elements and bytes of one layer as it lies in the arena: a rank's chunk of it.
int64_t rt_count(const RtModel *m, const RtTensor *t);
int64_t rt_bytes(const RtModel *m, const RtTensor *t);
// The first tensor of that role; NULL if there is none.
const RtTensor *rt_find(const RtTensor *t, int n, RtRole role);
// "input_ids I64[4,16]", truncated to `room`.
void rt_tensor_print(const RtTensor *t, char *to, size_t room);
// A file name for that tensor: characters that file systems may reject become '_'.
void rt_file_name(const RtTensor *t, char *to, size_t room);

// Tensors as files store them: whole, one entry per layer, without data.
typedef struct RtEntries {
    RtStored *item;
    const RtTensor **tensor;  // by entry: the tensor that the entry is a layer of
    int *layer;               // and which
    int n;
    char *names;
} RtEntries;

// All of `t` whose role is in `roles`, a sum of 1 << role. Ends the program when memory runs out.
RtEntries rt_entries(const RtTensor *t, int n, unsigned roles);
void rt_entries_free(RtEntries *e);

// ---- memory and time: system.c ----

void *rt_alloc(size_t count, size_t size);  // zeroed; ends the program when memory runs out
double rt_seconds(void);                    // seconds since some fixed moment

// ---- shards of tensors: tensor_shard.c ----

int64_t rt_chunk(const RtMesh *m, const RtCut *c);
RtShard rt_shard_of(const RtMesh *m, const RtCut *c, int rank);
// The shards of `rank`, one for each of RtModel.cuts; the caller frees them.
RtShard *rt_shards(const RtModel *m, int rank);
// Is this rank the first one with its shard of the tensor? Ranks may have equal shards.
bool rt_is_first(const RtModel *m, const RtTensor *t, int rank);

typedef struct RtRunsDim {
    int64_t extent, whole, own, at;
} RtRunsDim;

// Iterates over a shard of one layer in contiguous runs: `count` elements, from element `whole` of
// the whole tensor and from element `own` of the rank's chunk. Both rise.
//     for (RtRuns r = rt_runs(m, t, shard); rt_runs_next(&r);)
typedef struct RtRuns {
    int64_t whole, own, count;
    bool is_begun, is_ended;
    int n;
    RtRunsDim dim[RT_MAX_DIMS];  // innermost dim first
} RtRuns;

RtRuns rt_runs(const RtModel *m, const RtTensor *t, const RtShard *shard);
bool rt_runs_next(RtRuns *r);

// ---- the system's limits: limits.c ----

// At the start: checks that the stack is large enough. Also makes writes beyond the file size limit
// fail with an error instead of a signal.
bool rt_limits_check(const RtModel *m);
// Stack bytes that each thread needs. The packed rows of a product take 768 KiB of it (gemm.c). The
// test models run with 1 MiB and crash with 768 KiB.
enum { RT_STACK_BYTES = 1 << 20 };

// ---- a run: trainer.c ----

typedef struct RtRun {
    const RtModel *model;
    RtOptions o;
    Rt rt;
    int rank;
    RtShare share;
    int64_t step;         // steps done
    int interrupted;      // the signal that asked to stop; 0: none; see rt_agree
    bool has_failed;      // true if any rank has failed
    char *stderr_buffer;  // holds back messages on stderr; NULL: stderr is unbuffered
} RtRun;

// Sets the hyper-parameters of step `step` (from 0) and micro-batch `micro`.
void rt_set_hypers(RtRun *run, int64_t step, int64_t micro, double lr);

// ---- with the other ranks: agree.c ----

// A failure on one rank ends all of them, with one message. So rt_buffer_messages holds back stderr
// from the start, until rt_agree decides whose message is printed. rt_flush_messages ends this;
// rank 0 calls it at once.
void rt_buffer_messages(RtRun *run);
void rt_flush_messages(RtRun *run);
void rt_catch_signals(void);
// All ranks call it together. Returns true if `ok` is true on all of them; afterwards
// run->interrupted is the same on all. After a failure it returns false at once, so every function
// on the way up may call it. A rank that fails alone therefore only has to return: the call at the
// end of its rt_main answers the next call of the others. It must not return where the others wait
// for a different message first.
bool rt_agree(RtRun *run, bool ok);

// ---- outputs: collect.c ----

// Elements [first, first + count) of a tensor without layers, contiguous at the start of `room`.
// All ranks call it; only rank 0 gets the elements of all ranks, and the result is undefined on
// others. `room` holds `count` elements, or twice as many if the tensor is sharded.
void rt_collect(RtRun *run, const RtTensor *t, int64_t first, int64_t count, char *room);

// ---- --check-arena: watch.c ----
// All except rt_watch_open accept NULL.

typedef struct RtWatch RtWatch;

void rt_watch_open(RtRun *run);
void rt_watch_close(RtWatch *w);
// Notes that the call `what` comes next.
void rt_watch_call(RtWatch *w, const char *what);
// A pass of that set begins: fills everything except the values that persist with NaN. The caller
// then sets the inputs.
void rt_watch_begin(RtWatch *w, RtSet set);
// Checks the statements so far: did each write only to its buffers, and is the NaN fill in none of
// the results?
bool rt_watch_check(RtWatch *w);
// The same at the end of the pass; also checks that all statements have run.
bool rt_watch_end(RtWatch *w);

// ---- weights: weights.c, init.c, save.c ----

// Loads parameters and buffers from that file. Names, types and shapes must match; otherwise it
// prints a list of the differences.
bool rt_weights_load(RtRun *run, const char *path);
// Sets the path of the weights file: --load, or the file beside the program; empty if there is
// none.
bool rt_weights_find(const RtRun *run, char *path, size_t room);
// Loads the weights from that file, or draws them.
bool rt_weights_start(RtRun *run);
bool rt_weights_draw(RtRun *run);

// A file of tensors. Its header is made in advance, so that saving allocates nothing.
typedef struct RtSaver {
    RtRun *run;
    RtEntries entries;
    char *header, *staging;
    int64_t header_bytes;
    const char *path;
    RtOut out;
    bool is_begun;
} RtSaver;

// Checks at once that a file can be written at `path`.
bool rt_saver_open(RtSaver *s, RtRun *run, RtEntries entries, const char *path);
// All ranks call begin and end; in between each one puts its own shards. The complete file appears
// under its name once all ranks have come to the end. After a failure no file is left.
bool rt_saver_begin(RtSaver *s);
void rt_saver_put(RtSaver *s, int entry, int64_t place);  // this rank's shard, in the arena
bool rt_saver_end(RtSaver *s);
bool rt_saver_write(RtSaver *s);  // begin, all entries from the arena, end
void rt_saver_close(RtSaver *s);

// ---- data: data.c, tokens.c, check.c, loader.c, shuffle.c ----

// The source of an input's rows.
typedef struct RtColumn {
    const RtTensor *input;
    RtMap file;
    char *path;   // of `file`, if the column has its own file
    RtType type;  // in the file
    const uint8_t *rows;
    int64_t row_bytes;  // bytes of a sample in the file
    int64_t count;      // elements of a sample
    bool is_whole;      // true: the input has no sample axis and is the same in every batch
    int64_t staged_at;
} RtColumn;

typedef struct RtData {
    const RtModel *model;
    const RtShard *shard;  // the part of each batch that this rank reads
    RtColumn *column;
    int n;
    int64_t samples, batch;  // samples in all; samples in a micro-batch
    int64_t staged_bytes;
    int64_t window;   // tokens in a sample; 0: the data isn't a token file
    char *staging;    // room for one batch, for callers without a loader
    int64_t *sample;  // numbers of the samples in that batch
} RtData;

typedef enum RtUse { RT_TRAIN, RT_EVAL, RT_PREDICT } RtUse;  // RT_PREDICT needs no labels

bool rt_data_open(RtData *d, const RtModel *m, const RtShard *shard, RtUse use, const char *path,
                  int64_t token_bytes);
void rt_data_close(RtData *d);
// rt_data_stage gathers this rank's shard of d->batch samples in `staging`; rt_data_place copies it
// to the arena.
void rt_data_stage(const RtData *d, const int64_t *sample, char *staging);
void rt_data_place(const RtData *d, const char *staging, Rt *rt);
// Cuts a file of tokens into windows and fills in the columns of `d`, whose inputs are already set.
bool rt_tokens_open(RtData *d, const RtModel *m, RtUse use, const char *path, int64_t token_bytes);
// Is `t` the input of tokens, [batch, time]?
bool rt_is_tokens(const RtTensor *t);
int64_t rt_token_bytes(const RtModel *m);  // default of --token-bytes

// All data that a run reads; opened before anything slow.
typedef struct RtInputs {
    RtData train, eval, predict;
} RtInputs;

// outputs.c: checks that all requested outputs can be written, that none overwrites an input, and
// that no two go to one file.
bool rt_outputs_check(const RtRun *run, const RtInputs *x);

// check_data.c: both report values out of range; `sample` has the samples of the micro-batch.
// rt_check_data checks the indices in `staging`, and that the mapped files weren't truncated while
// they were staged. rt_check_labels runs after the micro-batch.
bool rt_check_data(const RtRun *run, const RtData *d, const int64_t *sample, const char *staging);
bool rt_check_labels(RtRun *run, const RtTensor *set, int n, const RtData *d,
                     const int64_t *sample);

// A permutation of [0, n): the new place of `i` in that epoch.
int64_t rt_shuffle(int64_t i, int64_t n, int64_t seed, int64_t epoch);

// Stages micro-batches in its own thread, one ahead of the running step.
typedef struct RtLoader RtLoader;
// The loader stages `micros` micro-batches in all; an epoch ends after `per_epoch` samples.
RtLoader *rt_loader_start(const RtData *d, int64_t micros, int64_t per_epoch, bool shuffle,
                          int64_t seed);
// Waits for the next micro-batch and gives its samples, valid until the next call, and its staged
// data, valid until rt_loader_release.
const int64_t *rt_loader_next(RtLoader *l, const char **staging);
void rt_loader_release(RtLoader *l);
void rt_loader_stop(RtLoader *l);

// ---- the loop: train.c, evaluate.c, schedule.c, log.c, progress.c ----

// Also returns true if a signal ended training early: the steps so far are saved.
bool rt_train(RtRun *run, const RtData *data, const RtData *eval);

// The mean loss over the whole batches of `d`. Returns false after a message, or when a signal
// interrupted it.
bool rt_evaluate(RtRun *run, const RtData *d, double *loss);

// The learning rate of step `step` (from 0) of `steps`.
double rt_schedule(const RtOptions *o, double lr, int64_t step, int64_t steps);

typedef struct RtReport {
    int64_t step, steps;  // from 1
    double loss, lr, grad_norm, seconds;
    bool has_norm;
} RtReport;

// A log of JSON lines; fd -1: no log.
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
    double items, flops;  // per step
    const char *unit;     // of items
    double mean_seconds;  // of a step: a moving average
    double last;          // time of the last line
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

// ---- how long calls take: profile.c, trace.c ----

// A call of a step; every step makes the same calls.
typedef struct RtEvent {
    RtCall call;
    const char *part;       // "micro"
    double start, seconds;  // in the latest step
    double total, least;    // over the steps that count
} RtEvent;

// The calls of a step in order. The first step is slower, so it doesn't count unless it is the only
// one.
typedef struct RtProfile {
    RtEvent *event;
    int n, cap, at;   // calls in a step; calls begun in the current step
    bool is_running;  // true: the latest call still runs
    const char *part;
    int64_t steps;   // including the first
    double seconds;  // over the steps that count
    const RtComm *comm;
    int64_t sent[RT_N_EXCHANGES][RT_MAX_AXES];  // in the first step; all steps send the same
} RtProfile;

// Notes that this call comes next, and that the one before has ended.
void rt_profile_call(RtProfile *p, const RtCall *call);
// The following calls belong to that part of a step; NULL: no calls follow for now.
void rt_profile_part(RtProfile *p, const char *part);
void rt_profile_step(RtProfile *p, double seconds);  // a step has ended after `seconds`
// Prints tables by module and by call, and of the bytes that the rank sent, to stdout.
void rt_profile_print(const RtProfile *p);
void rt_profile_close(RtProfile *p);
// Write the latest step as Chrome trace events. rt_trace_check tests that the file can be written.
bool rt_trace_check(const RtModel *m, const char *path);
bool rt_trace_write(const RtProfile *p, const RtModel *m, const char *path);

#endif
