#include "solver/internal.h"

#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

Watch watch_start(double limit) { return (Watch){now(), limit}; }

double watch_seconds(const Watch *w) { return now() - w->start; }

Stop watch_stop(const Watch *w)
{
    if (hold_asked())
        return STOP_ASKED;
    return w->limit > 0 && watch_seconds(w) >= w->limit ? STOP_TIME : STOP_DONE;
}
