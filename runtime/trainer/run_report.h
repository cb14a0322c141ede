// The reports of a trainer: progress, logs, and how long its calls take.
#ifndef SHARDCC_RT_RUN_REPORT_H
#define SHARDCC_RT_RUN_REPORT_H

#include "runtime/trainer/data.h"
#include "runtime/trainer/run.h"

// ---- steps: run_log.c, progress.c ----

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

// A run that goes on appends to the log, after its first `before` bytes; -1: after all of them.
bool rt_log_open(RtLog *l, const RtModel *m, const char *path, bool goes_on, int64_t before);
void rt_log_step(RtLog *l, const RtReport *r);
void rt_log_eval(RtLog *l, int64_t step, double loss, int64_t samples, double seconds);
bool rt_log_close(RtLog *l, const RtModel *m, const char *path);

typedef struct RtProgress {
    bool is_quiet, is_terminal;
    double items, flops;  // per step
    const char *unit;     // of items
    double mean_seconds;  // of a step: a moving average
    int64_t steps;        // that were reported
    double last;          // time of the last line
} RtProgress;

RtProgress rt_progress_start(const RtRun *run, const RtData *d);
void rt_progress_step(RtProgress *p, const RtReport *r);
void rt_progress_eval(RtProgress *p, int64_t step, double loss);
void rt_progress_end(RtProgress *p);
// 2300 as "2.3k".
enum { RT_SHORT = 16 };
void rt_short_number(double v, char to[RT_SHORT]);

// ---- how long calls take: profile.c, trace.c ----

// A call of a step; every step makes the same calls.
typedef struct RtEvent {
    RtCall call;
    const char *part;       // "micro"
    RtMark begin, end;      // in the latest step
    double start, seconds;  // the same; start is after the step's first call
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
void rt_profile_close(RtProfile *p);
// Write the latest step as Chrome trace events. rt_trace_check tests that the file can be written.
bool rt_trace_check(const RtModel *m, const char *path);
bool rt_trace_write(const RtProfile *p, const RtModel *m, const char *path);

#endif
