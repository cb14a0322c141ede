// Waits for a condition, or for some time.
#include <time.h>

#include "runtime/comm/transport.h"

void rt_timed_condition_open(pthread_cond_t *c)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attributes);
    pthread_condattr_destroy(&attributes);
}

void rt_timed_condition_wait(pthread_cond_t *c, pthread_mutex_t *lock, double seconds)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)(1e9 * seconds);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(c, lock, &t);
}
