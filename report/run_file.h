// The log of a trainer that ran with --profile (docs/trainer.md): what was run, and how long each
// call took.
#ifndef SHARDCC_REPORT_RUN_FILE_H
#define SHARDCC_REPORT_RUN_FILE_H

#include "analyzer/sharding/plan_file.h"

// A call of a step, or equal ones that micro-batches repeat. All numbers are of a step: means over
// the steps that were measured, and over all ranks.
typedef struct RunCall {
    const char *what;   // "h.{}.mlp.c_fc: dot f32[4,16,96]"
    const char *part;   // "micro"
    const char *block;  // the repeated block that it belongs to; NULL: none
    int layer, calls;
    double seconds, least;
    double fastest, slowest;  // ranks; 0: there is one rank
    double predicted;         // 0: the program doesn't say
    double flops, read, written;
    const char *axis;  // of a collective or of the wait for one; NULL: it is neither
    // Bytes that a rank hands to the collective, and its own seconds, while other calls may run; 0:
    // the call starts none.
    double sent, exchange, predicted_exchange;
} RunCall;

typedef struct RunFile {
    const char *program, *plan, *device;  // plan: in one line
    uint64_t identity, plan_hash;         // of the program's text; plan_file_hash, or 0: no plan
    int ranks, steps;
    double seconds;  // of a step
    int n_promised;  // calls that the log should have
    RunCall *call;
    int n_calls, cap_calls;
} RunFile;

// Reads the last profile in a log. The text isn't trusted: false after an error, which names the
// line.
bool run_file_parse(Arena *a, const char *text, size_t n, RunFile *f, Diag *d);
bool run_file_open(Arena *a, const char *path, RunFile *f, Diag *d);
// Is the log one of the plan's programs? Returns false after an error.
bool run_file_check(Arena *a, const RunFile *f, const PlanFile *p, Diag *d);

// Prints the tables of run_show. `name`: the log's.
void run_print(Arena *a, const char *name, const RunFile *f, const PlanFile *p);

#endif
