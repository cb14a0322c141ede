// Deadlines: the clock and Ctrl-C.
#include "solver/assign/internal.h"

#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Searches ask every few microseconds, and asking for pending signals is a system call.
static const double SIGNAL_PERIOD = 1e-3;
static _Thread_local double signal_asked;
static _Thread_local bool is_signal_pending;

Deadline deadline_start(double limit)
{
    signal_asked = 0;
    return (Deadline){now(), limit};
}

double deadline_seconds(const Deadline *w) { return now() - w->start; }

Stop deadline_check(const Deadline *w)
{
    double t = now();

    if (t >= signal_asked + SIGNAL_PERIOD) {
        is_signal_pending = signal_is_pending();
        signal_asked = t;
    }
    if (is_signal_pending)
        return STOP_SIGNAL;
    return w->limit > 0 && t - w->start >= w->limit ? STOP_DEADLINE : STOP_DONE;
}
