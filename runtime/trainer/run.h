// The state of a run, and what all of its phases do with it.
#ifndef SHARDCC_RT_RUN_H
#define SHARDCC_RT_RUN_H

#include "runtime/comm/comm.h"
#include "runtime/device.h"
#include "runtime/trainer/data.h"
#include "runtime/trainer/trainer_options.h"

typedef struct RtCheckpoints RtCheckpoints;

typedef struct RtRun {
    const RtModel *model;
    RtOptions o;
    Rt rt;
    int rank;
    RtShare share;
    double began;                // when the program was started
    int64_t step;                // steps done
    int interrupted;             // the signal that asked to stop; 0: none; see rt_agree
    bool has_failed;             // true if any rank has failed
    char *stderr_buffer;         // holds back messages on stderr; NULL: stderr is unbuffered
    RtCheckpoints *checkpoints;  // NULL: there is no --checkpoint
    // By parameter and buffer, in the order of RtModel.tensors and their layers: it wasn't finite
    // when it was loaded, so nobody asks whether it is. NULL: nothing is trained.
    bool *kept;
    int n_kept;
} RtRun;

// ---- hyper-parameters: hypers.c ----

// Sets the hyper-parameters of step `step` (from 0) and micro-batch `micro`.
void rt_set_hypers(RtRun *run, int64_t step, int64_t micro, double lr);
// The full learning rate: the option's, or the model's default; 0 if the model has none.
double rt_full_rate(const RtRun *run);

// ---- the system's limits: limits.c ----

// At the start: checks that the stack is large enough. Also makes writes beyond the file size limit
// fail with an error instead of a signal.
bool rt_limits_check(const RtModel *m);
// Lets the process have so many more files open, as far as its hard limit goes.
void rt_limits_open(int n);

// ---- with the other ranks: agree.c ----

// A failure on one rank ends all of them, with one message. So rt_buffer_messages holds back stderr
// from the start, until rt_agree decides whose message is printed. rt_flush_messages ends this;
// rank 0 calls it immediately.
void rt_buffer_messages(RtRun *run);
void rt_flush_messages(RtRun *run);
void rt_catch_signals(void);  // SIGINT, SIGTERM, SIGUSR1
// All ranks call it together. Returns true if `ok` is true on all of them; afterwards
// run->interrupted is the same on all. After a failure it returns false immediately, so every
// caller up the stack may call it. A rank that fails alone therefore only has to return: the call
// at the end of its rt_main answers the next call of the others. It must not return where the
// others wait for a different message first.
bool rt_agree(RtRun *run, bool ok);
// The same about something whose failure doesn't fail the run. Its messages are warnings: the first
// rank's is printed, and the run goes on.
bool rt_agree_to_try(RtRun *run, bool ok);
// Do all ranks run the same program with the same options? If not, rank 0 prints what differs. All
// ranks call it, and get the same answer: same_run.c.
bool rt_is_same_run(const RtRun *run);
// Do they read the same data, wherever each finds them? As above.
bool rt_is_same_data(const RtRun *run, const RtInputs *x);
// The exclusive or of all ranks' x. All ranks call it.
uint32_t rt_join_bits(RtRun *run, uint32_t x);

#endif
