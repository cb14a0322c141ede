// Checkpoints: --checkpoint, --checkpoint-every, --keep, --resume. A checkpoint is a folder in that
// of --checkpoint, "step-000000000500", with model.safetensors (parameters and buffers),
// optimizer.safetensors (the optimizer's states, if it has some), and MANIFEST, which is written
// last (rt_manifest.h). The file LOCK is locked while a run uses the folder.
#ifndef SHARDCC_RT_CHECKPOINT_H
#define SHARDCC_RT_CHECKPOINT_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "runtime/rt_checkpoint.h"
#include "runtime/trainer/files.h"
#include "runtime/trainer/run_report.h"

typedef struct RtCheckpointFile {
    const char *name;
    unsigned roles;    // of its tensors
    const char *what;  // they are
} RtCheckpointFile;

enum { RT_WEIGHTS, RT_STATES, RT_CHECKPOINT_FILES };
extern const RtCheckpointFile rt_checkpoint_files[RT_CHECKPOINT_FILES];  // checkpoint_folder.c

enum { RT_BROKEN = 640 };

// A thread that works concurrently with the steps.
typedef struct RtThread {
    pthread_t id;
    bool is_running;
} RtThread;

// A thread writes the files of a checkpoint from a copy, during the steps that follow it.
typedef struct RtWriter {
    RtThread thread;
    RtPace pace;
    atomic_bool is_done;
    bool is_fine;  // valid when it is done, as is `error`
    RtFileError error;
    char *copy;  // of what this rank writes; NULL: it is written in place
    int64_t bytes[RT_CHECKPOINT_FILES];
} RtWriter;

// A thread of rank 0 removes what is no longer needed during the steps that follow: large files
// take a while.
typedef struct RtRemover {
    RtThread thread;
    const char *folder;
    int64_t last, keep;  // see rt_checkpoints_trim
    RtBest best;
} RtRemover;

struct RtCheckpoints {
    RtRun *run;
    const RtData *data;
    const RtData *eval;  // of --eval-data; NULL
    int lock;            // of rank 0: the file LOCK; -1: it isn't locked
    bool has_noted;      // LOCK says that the run does steps
    int64_t last;        // the step of the last checkpoint, be it saved or not
    double last_at;      // when that was, or the run began
    int64_t log;         // of the checkpoint that was loaded: see RtManifest.log
    RtBest best;         // of the checkpoints that are there
    RtBest latest;       // the latest evaluation
    bool improves;       // it was the best, and no checkpoint says so yet
    bool has_loaded;
    RtEvaluation evaluation;     // of the last step
    int64_t rollbacks, skipped;  // see rt_checkpoints_roll_back, and RtManifest
    RtRecent loss, grad_norm;    // of the last step, or of the checkpoint that was loaded
    RtSaver file[RT_CHECKPOINT_FILES];
    RtManifest manifest;  // of the checkpoint that is being written
    // Why the last one wasn't saved, if that is since it isn't finite: "model.safetensors: 'w'[3,
    // 5] is NaN". The same on all ranks.
    char broken[RT_BROKEN];
    bool is_writing;
    RtWriter writer;
    RtRemover remover;
    char path[PATH_MAX];  // of the file that is written or read
    char file_path[RT_CHECKPOINT_FILES][PATH_MAX];
};

// ---- saving: checkpoint.c ----

// Makes the folder and locks it; without --resume it must have no checkpoint. All ranks call it.
bool rt_checkpoints_open(RtRun *run, const RtData *data, const RtData *eval);
// After an evaluation, with --keep-best: if it was the best one so far, the checkpoint of this step
// is marked as the best; rt_checkpoints_step writes one if there is none. All ranks call it.
void rt_checkpoints_eval(RtCheckpoints *c, double loss);
// With --keep-best: was the best one found by other samples than this run's?
bool rt_best_is_other(const RtCheckpoints *c, const RtBest *best);
// After a step of so many seconds: begins a checkpoint if it is time for one, and ends one that is
// written. A failure is a warning, except that a checkpoint isn't finite: then it returns false,
// and RtCheckpoints.broken says why.
bool rt_checkpoints_step(RtCheckpoints *c, RtLog *log, double seconds);
// After the last step: writes one of it, unless there is one. Returns as above.
bool rt_checkpoints_end(RtCheckpoints *c, RtLog *log);
// Ends the checkpoint that is being written, if there is one, and the removal of others.
void rt_checkpoints_wait(RtCheckpoints *c);
void rt_checkpoints_close(RtCheckpoints *c);

// ---- the folder: checkpoint_folder.c ----

// Locks the folder for this run. Returns false after a message.
bool rt_checkpoints_lock(RtCheckpoints *c, const char *folder);
// Tells those who watch the folder that the run does steps.
void rt_checkpoints_note_step(RtCheckpoints *c);
// Removes the checkpoint of a step. The manifest goes first.
void rt_checkpoint_remove(const char *folder, int64_t step);
// Keeps, of the checkpoint of step `last` and those before it, `keep`, and the best one, and
// removes the others. Also removes what killed runs have left. Later ones weren't whole: they are
// made anew.
void rt_checkpoints_trim(const char *folder, int64_t last, int64_t keep, const RtBest *best);

// ---- going on: resume.c ----

// Loads the last checkpoint that is whole and sets run->step. Sets has_loaded unless there is none.
bool rt_checkpoints_load(RtCheckpoints *c);
// Loads it again after steps up to `last` were no good. Steps then go on with data that wasn't read
// yet: step i, from 0, has the data of step i + c->skipped of a run without rollbacks. It is an
// error if there is no checkpoint. All ranks call it.
bool rt_checkpoints_roll_back(RtCheckpoints *c, int64_t last);

#endif
