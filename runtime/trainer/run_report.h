// The reports of a trainer: progress, logs, and how long its calls take.
#ifndef SHARDCC_RT_RUN_REPORT_H
#define SHARDCC_RT_RUN_REPORT_H

#include <limits.h>
#include <sys/types.h>

#include "runtime/trainer/data.h"
#include "runtime/trainer/run.h"

// ---- the numbers of a step: report.c ----

// The work of each step, and the flop/s that could be reached, of all ranks together.
typedef struct RtStepWork {
    double items, flops, peak;  // peak 0: unknown
    const char *unit, *rate;    // of items: "tokens", "tokens_per_second"
} RtStepWork;

typedef struct RtReport {
    int64_t step, steps;                  // from 1
    double loss, lr, grad_norm, seconds;  // grad_norm: NAN if the program doesn't have it
    double scale;     // of the loss, while the gradients were made; NAN: it isn't scaled
    bool is_skipped;  // the gradients aren't finite, and nothing was updated
    // The first two are parts of `seconds`: communication, and waits for the loader. Checkpoints
    // took `saving` between the step before and this one.
    double communication, data, saving;
    double arena_bytes, resident_bytes;  // memory of this rank: the arena; all, at its peak
    const RtStepWork *work;
} RtReport;

// A number of a step, under the name that it has in logs and event files.
typedef struct RtScalar {
    const char *name;
    double value;
    bool is_count;  // a whole number
} RtScalar;

enum { RT_SCALARS = 16 };  // at most

RtStepWork rt_step_work(const RtRun *run, const RtData *d);
// Sets to[] and returns how many they are; the names are the same for all steps of a run.
int rt_report_scalars(const RtReport *r, RtScalar to[RT_SCALARS]);
double rt_resident_bytes(void);  // of this process, at its peak

// ---- files of steps: run_log.c, event_file.c ----

// A log of JSON lines; fd -1: no log.
typedef struct RtLog {
    int fd;
    int error;   // errno of the first failure
    off_t half;  // bytes at the file's end of a line that couldn't be written whole
    off_t head;  // bytes up to the end of the run's first line; 0: there is none
    const RtModel *model;
    const char *path;
} RtLog;

// A run that goes on appends to the log, after its first `before` bytes; -1: after all of them. The
// rest of a line that was written by half is cut off. `path` is used until the log is closed.
bool rt_log_open(RtLog *l, const RtModel *m, const char *path, bool goes_on, int64_t before);
// Writes the run's first line, if ranks exchange by something that has a description.
void rt_log_begin(RtLog *l, const Rt *rt);
// Cuts it to its first `before` bytes, as opening does, but for the first line of this run: steps
// after them are done once more.
void rt_log_cut(RtLog *l, int64_t before);
void rt_log_step(RtLog *l, const RtReport *r);
void rt_log_eval(RtLog *l, int64_t step, double loss, int64_t samples, double seconds);
// Writes all of it in one call, so that the file is complete up to here however the program ends,
// or nothing, with a warning at the first failure.
void rt_log_write(RtLog *l, const void *data, size_t bytes);
// Returns false after a message if the file lacks anything.
bool rt_log_close(RtLog *l);

// An event file of --tensorboard, a new one in each run.
typedef struct RtEventFile {
    RtLog file;
    char path[PATH_MAX];
} RtEventFile;

// Makes the file in that folder, which is made, too, if it isn't there. The steps after `step` of
// files before are void. folder NULL: there is none, and the other calls do nothing.
bool rt_events_open(RtEventFile *f, const RtModel *m, const char *folder, int64_t step);
void rt_events_restart(RtEventFile *f, int64_t step);  // events after that step are void
void rt_events_step(RtEventFile *f, const RtReport *r);
void rt_events_eval(RtEventFile *f, int64_t step, double loss);
bool rt_events_close(RtEventFile *f);

// ---- progress: progress.c ----

typedef struct RtProgress {
    bool is_quiet, is_terminal;
    double mean_seconds;  // of a step: a moving average
    int64_t steps;        // that were reported
    double last;          // time of the last line
} RtProgress;

RtProgress rt_progress_start(const RtRun *run);
void rt_progress_step(RtProgress *p, const RtReport *r);
// Ends the status line, so that another line can be printed on a terminal.
void rt_progress_clear(const RtProgress *p);
void rt_progress_eval(const RtProgress *p, int64_t step, double loss);
void rt_progress_end(RtProgress *p);
// 2300 as "2.3k".
enum { RT_SHORT = 16 };
void rt_short_number(double v, char to[RT_SHORT]);

// ---- how long calls take: profile.c, profile_log.c, trace.c ----

// A call of a step; every step makes the same calls.
typedef struct RtEvent {
    RtCall call;
    const char *part;       // "micro"
    int64_t layer;          // of its block; -1: it has none, or no number
    RtMark begin, end;      // in the latest step
    double start, seconds;  // the same; start is after the step's first call
    double total, least;    // over the steps that count
    // Two marks: begin and end of the collective itself, which may run after the call that starts
    // it. NULL: it is none.
    RtMark *exchange;
    double exchange_total;  // over the steps that count
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
    Rt *rt;
    int64_t sent[RT_N_EXCHANGES][RT_MAX_AXES];  // in the first step; all steps send the same
} RtProfile;

// Notes that this call comes next, and that the one before has ended.
void rt_profile_call(RtProfile *p, const RtCall *call);
// The following calls belong to that part of a step; NULL: no calls follow for now.
void rt_profile_part(RtProfile *p, const char *part);
void rt_profile_step(RtProfile *p, double seconds);  // a step has ended after `seconds`
// Prints tables by module and by call, and of the bytes that the rank sent, to stdout.
void rt_profile_print(const RtProfile *p);
// Writes a line that says what was run, and one for each call, to rank 0's log: profile_log.c. All
// ranks call it; the seconds are means over them.
void rt_profile_log(const RtProfile *p, const RtModel *m, RtLog *l);
// How many steps count.
int64_t rt_profile_steps(const RtProfile *p);
void rt_profile_close(RtProfile *p);
// Write the latest step as Chrome trace events. rt_trace_check tests that the file can be written.
bool rt_trace_check(const RtModel *m, const char *path);
bool rt_trace_write(const RtProfile *p, const RtModel *m, const char *path);

#endif
