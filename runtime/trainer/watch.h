// --check-arena: watches which bytes a program reads and writes.
#ifndef SHARDCC_RT_WATCH_H
#define SHARDCC_RT_WATCH_H

#include "runtime/rt_kernels.h"

// All except rt_watch_open accept NULL.

typedef struct RtWatch RtWatch;

void rt_watch_open(Rt *rt, const RtModel *m);  // sets rt->watch
void rt_watch_close(RtWatch *w);
// Notes that the call `what` comes next.
void rt_watch_call(RtWatch *w, const char *what);
// Until rt_watch_runs_end all calls count as one statement.
void rt_watch_runs_begin(RtWatch *w);
void rt_watch_runs_end(RtWatch *w);
// A pass of that set begins: fills everything except the values that persist with NaN. The caller
// then sets the inputs.
void rt_watch_begin(RtWatch *w, RtSet set);
// The statements so far are shared: each micro-batch of the pass begins after them.
void rt_watch_share(RtWatch *w);
// The next micro-batch of the pass begins: the same as rt_watch_begin, but what the shared
// statements have made is kept.
void rt_watch_next(RtWatch *w);
// Checks the statements so far: did each write only to its buffers, and is the NaN fill in none of
// the results?
bool rt_watch_check(RtWatch *w);
// The same at the end of the pass; also checks that all statements have run.
bool rt_watch_end(RtWatch *w);

#endif
