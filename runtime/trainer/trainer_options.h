// The options of a trainer.
#ifndef SHARDCC_RT_TRAINER_OPTIONS_H
#define SHARDCC_RT_TRAINER_OPTIONS_H

#include <stddef.h>

#include "runtime/comm/comm.h"
#include "runtime/device.h"

typedef enum RtSchedule { RT_CONSTANT_LR, RT_LINEAR, RT_COSINE } RtSchedule;

// The action after a spike of the loss.
typedef enum RtOnSpike { RT_WARN, RT_STOP, RT_ROLLBACK } RtOnSpike;

// So many steps, or so much time; 0: not that one.
typedef struct RtPeriod {
    int64_t steps;
    double seconds;
} RtPeriod;

typedef struct RtOptions {
    const char *data, *eval_data, *log, *save, *load, *save_gradients, *predict, *out, *prompt;
    const char *libraries, *checkpoint, *tensorboard;
    RtPeriod every;  // of checkpoints
    int64_t keep;    // checkpoints
    const char *master, *interface;
    int64_t spawn, rank, size;  // rank -1, others 0: not given
    int64_t steps, epochs, eval_every, eval_samples, warmup, schedule, seed, generate, threads,
        timeout, gpu;      // gpu -1: not given
    int64_t token_choice;  // index of the word of --token-bytes, or -1
    int token_bytes;       // 1, 2 or 4; 0: not given
    int64_t collectives;   // index of the word of --collectives, or -1
    int64_t documents;     // index of the word of --documents, or -1
    int64_t document_end;  // a token, or -1
    int64_t on_spike;      // an RtOnSpike; -1: not given
    int64_t save_dtype;    // index of the word of --save-dtype, or -1
    int64_t max_rollbacks;
    double temperature, max_time, spike;
    const char *trace;
    bool stdin_signals, resume, keep_best, in_place, no_shuffle, no_overlap, no_graph, tf32, tune,
        info, check_arena, pin, profile, quiet, help;
    double *hyper;  // indexed as RtModel.tensors; NaN: the model's default
} RtOptions;

// Only takes the words, for programs that have no data. Returns false after a message.
bool rt_options_read(RtOptions *o, const RtModel *m, int argc, char **argv);
// Also checks that they go together. Returns 0, or the exit status 2 after a message.
int rt_options_parse(RtOptions *o, const RtModel *m, int argc, char **argv);
void rt_options_free(RtOptions *o);

// Upper bound of --steps, such that steps times the samples of a step fit an int64_t.
#define RT_MAX_STEPS ((int64_t)1 << 40)

typedef enum RtOptionKind {
    RT_FLAG,
    RT_TEXT,
    RT_WHOLE,
    RT_REAL,
    RT_WORD,
    RT_PERIOD,
    RT_TIME
} RtOptionKind;

enum { RT_MAX_NEEDS = 2 };

typedef struct RtOption {
    const char *name;
    RtOptionKind kind;
    size_t at;            // offset in RtOptions
    int64_t least, most;  // bounds of RT_WHOLE
    const char *value, *help;
    unsigned of;  // an RtCan: programs with such a device or transport have it; 0: all
    bool is_own;  // ranks may have different values
    // Options without which it does nothing: "--data or --eval-data". NULL: no more.
    const char *needs[RT_MAX_NEEDS];
} RtOption;

extern const RtOption rt_options[];
extern const int rt_n_options;

// The job that --rank, --size, --master and --interface say.
RtJob rt_options_job(const RtOptions *o);
bool rt_options_has_job(const RtOptions *o);  // is one of them given, or --spawn?
// Checks them, and --spawn: job_options.c. Returns false after a message.
bool rt_options_check_job(const RtOptions *o, const RtModel *m);

// Has this program the option?
bool rt_has_option(const RtModel *m, const RtOption *x);

// May the user set this hyper-parameter? Not the ones that the trainer counts itself.
bool rt_is_option(const RtTensor *t);
// "--weight-decay" for weight_decay.
void rt_option_name(const RtTensor *t, char *to, size_t capacity);
void rt_help(const RtModel *m);
// Describes the program, and the devices that this machine has for it.
void rt_info(const RtModel *m, const char *libraries);

#endif
