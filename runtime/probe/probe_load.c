// Measures the load of all ranks that exchange messages with the rank a stride away at the same
// time. The load slows messages down, as they may share a link, and computation, as sockets take
// CPU time. Other traffic disturbs both, so each measurement comes just after its own baseline and
// is repeated.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"

enum { MAX_CALLS = 100 };

static const double WINDOW = 0.1;  // seconds of computation, enough for many concurrent messages

// The rank to exchange messages with; -1 if there is none.
static int partner(const Ranks *r, int stride)
{
    int other = r->rank / stride % 2 ? r->rank - stride : r->rank + stride;

    return other < r->n ? other : -1;
}

// ---- messages concurrent with messages ----

static double exchange_seconds(const Ranks *r, int other, char *p)
{
    double start = rt_seconds();

    if (other >= 0) {
        RtPending in = rt_receive(r->comm, other, p + LARGE, LARGE);
        RtPending out = rt_send(r->comm, other, p, LARGE);
        rt_await(r->comm, in);
        rt_await(r->comm, out);
    }
    return rt_seconds() - start;
}

double load_times(const Ranks *r, int stride, char *p)
{
    double alone = 0;

    ranks_wait(r);
    if (r->rank == 0 || r->rank == stride)
        alone = message_seconds(r, stride - r->rank, r->rank == 0, p, LARGE, 1);
    ranks_wait(r);
    double together = ranks_most(r, exchange_seconds(r, partner(r, stride), p));
    return together / ranks_most(r, alone);
}

// ---- messages concurrent with computation ----

// A thread that exchanges messages as the comm thread does (comm_thread.c).
typedef struct Exchanges {
    RtComm *comm;
    int other, calls;
    char *p;
    atomic_bool is_done;
} Exchanges;

static void wait_for(RtComm *c, RtPending in, RtPending out)
{
    bool has_come = false, is_sent = false;

    while (!has_come || !is_sent) {
        has_come = has_come || c->transport->test(c, in.message);
        is_sent = is_sent || c->transport->test(c, out.message);
        if (!has_come || !is_sent)
            usleep(RT_POLL_MICROSECONDS);
    }
}

static void *overlapped_exchange(void *exchanges)
{
    Exchanges *x = exchanges;
    rt_request_short_slice();
    for (int i = 0; i < x->calls && x->other >= 0; i++) {
        wait_for(x->comm, rt_receive(x->comm, x->other, x->p + LARGE, LARGE),
                 rt_send(x->comm, x->other, x->p, LARGE));
    }
    atomic_store(&x->is_done, true);
    return NULL;
}

// Calls per second during `seconds`, or until `during` is done if it isn't NULL; *took: the actual
// duration.
static double call_rate(const Meanwhile *m, double seconds, Exchanges *during, double *took)
{
    double start = rt_seconds();
    int calls = 0;

    do {
        m->call(m->rt, m->p);
        calls++;
        *took = rt_seconds() - start;
    } while (during ? !atomic_load(&during->is_done) : *took < seconds);
    return calls / *took;
}

double load_overhead(const Ranks *r, int stride, char *p, const Meanwhile *m)
{
    Exchanges x = {.comm = r->comm, .other = partner(r, stride), .p = p};
    double took, seconds = ranks_most(r, exchange_seconds(r, x.other, p));
    pthread_t thread;

    x.calls = (int)fmin(MAX_CALLS, ceil(WINDOW / seconds));
    ranks_wait(r);
    double alone = call_rate(m, WINDOW, NULL, &took);
    ranks_wait(r);
    if (pthread_create(&thread, NULL, overlapped_exchange, &x))
        rt_comm_fail(r->comm);
    double during = call_rate(m, 0, &x, &took);
    pthread_join(thread, NULL);
    double lost = fmax(1 - during / alone, 0) * took;
    return x.other < 0 ? 0 : lost / ((double)x.calls * LARGE);
}
