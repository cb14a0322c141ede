// Computes the learning rate of a step.
#include <math.h>

#include "runtime/trainer/trainer.h"

double rt_schedule(const RtOptions *o, double lr, int64_t step, int64_t steps)
{
    const double pi = 3.14159265358979323846;

    if (step < o->warmup)
        return lr * (double)(step + 1) / (double)o->warmup;
    // The part of the steps after the warm-up that is done: 0 in the first one, 1 after the last.
    double done = (double)(step - o->warmup) / (double)(steps - o->warmup);
    switch (o->schedule) {
    case RT_LINEAR:
        return lr * (1 - done);
    case RT_COSINE:
        return lr * 0.5 * (1 + cos(pi * done));
    default:
        return lr;
    }
}
