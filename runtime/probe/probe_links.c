// Measures messages between ranks: each pair alone, with 1 byte and with LARGE bytes; and all ranks
// together (probe_load.c). Medians count, because other traffic and the state of the peer disturb a
// time in both directions.
#include <math.h>
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"

static void measure_pairs(const Ranks *r, char *p, double *alpha, double *beta)
{
    for (int a = 0; a < r->n; a++)
        for (int b = a + 1; b < r->n; b++) {
            ranks_wait(r);
            if (r->rank != a && r->rank != b)
                continue;
            int other = a + b - r->rank;
            double small = message_seconds(r, other, r->rank == a, p, 1, SMALL_CALLS);
            double large = message_seconds(r, other, r->rank == a, p, LARGE, LARGE_CALLS);
            alpha[r->rank * r->n + other] = small;
            beta[r->rank * r->n + other] = fmax(large - small, 1e-12) / LARGE;
        }
    ranks_wait(r);
}

// Fills the tables by try and stride. Only strides that divide the number of ranks can be a level.
static void measure_load(const Ranks *r, char *p, const Meanwhile *m, double *times,
                         double *overhead)
{
    for (int stride = 1; stride < r->n; stride++)
        for (int i = 0; i < MESSAGE_TRIES && r->n % stride == 0; i++) {
            times[i * r->n + stride] = load_times(r, stride, p);
            overhead[i * r->n + stride] = load_overhead(r, stride, p, m);
        }
}

void ranks_measure(const Ranks *r, const Meanwhile *m)
{
    MessageTimes t = times_new(r);
    char *p = rt_alloc(2, LARGE);

    measure_pairs(r, p, t.alpha, t.beta);
    measure_load(r, p, m, t.times, t.overhead);
    times_print(r, &t);
    free(p);
}
