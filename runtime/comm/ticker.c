// A thread that looks at something now and then.
#include <time.h>

#include "runtime/comm/transport.h"

// It waits by the clock that nobody sets: after a step of the other one it would sleep for as long.
static void open_changed(pthread_cond_t *changed)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void wait(RtTicker *t)
{
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += (long)(1e9 * t->seconds);
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&t->changed, &t->lock, &end);
}

static void *run(void *ticker)
{
    RtTicker *t = ticker;

    pthread_mutex_lock(&t->lock);
    while (!t->is_closing) {
        t->look(t->data);
        wait(t);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

bool rt_ticker_open(RtTicker *t, double seconds, void (*look)(void *data), void *data)
{
    *t = (RtTicker){.seconds = seconds, .look = look, .data = data};
    pthread_mutex_init(&t->lock, NULL);
    open_changed(&t->changed);
    if (!pthread_create(&t->thread, NULL, run, t))
        return true;
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    return false;
}

void rt_ticker_close(RtTicker *t)
{
    pthread_mutex_lock(&t->lock);
    t->is_closing = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
}
