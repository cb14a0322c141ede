// How fast a checkpoint is written during the steps: so that they don't take longer.
#ifndef SHARDCC_RT_PACE_H
#define SHARDCC_RT_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The rate halves after a step that is slower than steps without writing, and grows by a quarter
// after any other. It isn't so low that a checkpoint takes more than half of the time to the next
// one. All zero: nothing is known yet, and there is no limit.
typedef struct RtPace {
    atomic_llong rate;       // bytes a second; 0: there is no limit
    atomic_llong written;    // bytes of this checkpoint
    atomic_bool hurries;     // somebody waits for the checkpoint
    int64_t least, counted;  // the lowest rate; what was written before the last step
    double step;             // seconds of a step during which nothing is written; 0: unknown
    double due;              // when the writer may go on
} RtPace;

// A checkpoint of so many bytes begins, so many seconds before the next one.
void rt_pace_begin(RtPace *p, int64_t bytes, double seconds);
// After a step of so many seconds.
void rt_pace_step(RtPace *p, double seconds, bool is_writing);
// From now on the checkpoint is written without a limit.
void rt_pace_hurry(RtPace *p);

// The writer has written `bytes` more, and it is `now` (rt_seconds). Returns when it may go on.
double rt_pace_due(RtPace *p, int64_t bytes, double now);
// Waits until then.
void rt_pace_wait(RtPace *p, int64_t bytes);

#endif
