// Preloaded into a rank, shifts the time of day by CLOCK_SKEW seconds. From the moment on when the
// file CLOCK_STEP exists it is shifted by as much once more, as by a clock that is set.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static time_t skew(void)
{
    const char *seconds = getenv("CLOCK_SKEW"), *step = getenv("CLOCK_STEP");
    time_t n = seconds ? atol(seconds) : 0;

    return step && access(step, F_OK) == 0 ? 2 * n : n;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int status = NEXT(clock_gettime)(clock, t);

    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        t->tv_sec += skew();
    return status;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    int status = NEXT(gettimeofday)(t, zone);

    if (status == 0)
        t->tv_sec += skew();
    return status;
}

time_t time(time_t *t)
{
    time_t now = NEXT(time)(NULL) + skew();

    if (t)
        *t = now;
    return now;
}
