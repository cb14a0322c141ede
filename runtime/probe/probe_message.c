// Messages between ranks, and the time that they take.
#include <stdlib.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"

enum { WAIT_MICROSECONDS = 200 };

void ranks_send(const Ranks *r, int other, const void *p, int bytes)
{
    rt_await(r->comm, rt_send(r->comm, other, p, bytes));
}

void ranks_receive(const Ranks *r, int other, void *p, int bytes)
{
    rt_await(r->comm, rt_receive(r->comm, other, p, bytes));
}

static void wait_asleep(RtComm *c, RtPending p)
{
    int state;

    while ((state = c->transport->test(c, p.message)) == 0)
        usleep(WAIT_MICROSECONDS);
    if (state < 0)
        rt_comm_fail(c);
}

// After round k each rank knows of the 2^k ranks up to itself that they have come, as in
// rt_comm_max.
void ranks_wait(const Ranks *r)
{
    char sent = 0, received;

    for (int step = 1; step < r->n; step *= 2) {
        int to = (r->rank + step) % r->n, from = (r->rank + r->n - step) % r->n;
        RtPending out = rt_send(r->comm, to, &sent, 1);
        wait_asleep(r->comm, rt_receive(r->comm, from, &received, 1));
        wait_asleep(r->comm, out);
    }
}

// The first call warms up and isn't counted.
double message_seconds(const Ranks *r, int other, bool begins, char *p, int bytes, int calls)
{
    double seconds[SMALL_CALLS];

    for (int i = -1; i < calls; i++) {
        double start = rt_seconds();
        if (begins)
            ranks_send(r, other, p, bytes);
        ranks_receive(r, other, p, bytes);
        if (!begins)
            ranks_send(r, other, p, bytes);
        if (i >= 0)
            seconds[i] = (rt_seconds() - start) / 2;
    }
    return median(seconds, calls);
}
