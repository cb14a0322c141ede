// Deadlines: the clock and Ctrl-C.
#include "solver/assign/internal.h"

#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

Deadline deadline_start(double limit) { return (Deadline){now(), limit}; }

double deadline_seconds(const Deadline *w) { return now() - w->start; }

Stop deadline_check(const Deadline *w)
{
    if (signal_is_pending())
        return STOP_SIGNAL;
    return w->limit > 0 && deadline_seconds(w) >= w->limit ? STOP_DEADLINE : STOP_DONE;
}
