#include "runtime/trainer/pace.h"

#include <math.h>
#include <time.h>

#include "runtime/core/core.h"

static const double SLOW = 1.02;     // how much longer a step is that writing has slowed down
static const double RECENT = 0.125;  // the last step's part of the mean of steps
static const double AT_ONCE = 0.05;  // seconds of writing that may be made up for in one go

static int64_t per_second(int64_t bytes, double seconds)
{
    return (int64_t)fmin((double)bytes / seconds, 1e18);
}

void rt_pace_begin(RtPace *p, int64_t bytes, double seconds)
{
    p->least = 2 * per_second(bytes, seconds) + 1;
    p->counted = 0;
    p->due = 0;
    atomic_store(&p->written, 0);
    atomic_store(&p->hurries, false);
    if (atomic_load(&p->rate) && atomic_load(&p->rate) < p->least)
        atomic_store(&p->rate, p->least);
}

// A rate that is much higher than what is written is no limit, and so doesn't grow.
void rt_pace_step(RtPace *p, double seconds, bool is_writing)
{
    int64_t written = atomic_load(&p->written), rate = atomic_load(&p->rate);
    int64_t found = per_second(written - p->counted, seconds);

    if (!is_writing) {
        p->step += p->step > 0 ? RECENT * (seconds - p->step) : seconds;
        return;
    }
    if (written == p->counted)
        return;  // it says nothing
    p->counted = written;
    if (p->step > 0 && seconds > SLOW * p->step) {
        rate = (rate ? rate : found) / 2;
        rate = rate > p->least ? rate : p->least;
    } else if (rate < 2 * found) {
        rate += rate / 4;
    }
    atomic_store(&p->rate, rate);
}

void rt_pace_hurry(RtPace *p) { atomic_store(&p->hurries, true); }

double rt_pace_due(RtPace *p, int64_t bytes, double now)
{
    int64_t rate = atomic_load(&p->rate);

    atomic_fetch_add(&p->written, bytes);
    p->due = p->due > now - AT_ONCE ? p->due : now - AT_ONCE;
    p->due += rate ? (double)bytes / (double)rate : 0;
    return p->due;
}

void rt_pace_wait(RtPace *p, int64_t bytes)
{
    static const struct timespec pause = {0, 5 * 1000 * 1000};
    double due = rt_pace_due(p, bytes, rt_seconds());

    while (rt_seconds() < due && !atomic_load(&p->hurries))
        nanosleep(&pause, NULL);
}
