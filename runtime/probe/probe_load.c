// Measures the load of all ranks that exchange messages with the rank a stride away at the same
// time. The load slows messages down, as they may share a link, and computation, as sockets take
// CPU time. Other traffic disturbs both, so each measurement comes just after its own baseline and
// is repeated.
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "runtime/comm/comm.h"
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

static double most_of_all(double x)
{
    double most;

    MPI_Allreduce(&x, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

// ---- messages concurrent with messages ----

static double exchange_seconds(int other, char *p)
{
    double start = MPI_Wtime();

    if (other >= 0)
        MPI_Sendrecv(p, LARGE, MPI_BYTE, other, 0, p + LARGE, LARGE, MPI_BYTE, other, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Wtime() - start;
}

double load_times(const Ranks *r, int stride, char *p)
{
    double alone = 0;

    ranks_wait(r);
    if (r->rank == 0 || r->rank == stride)
        alone = message_seconds(stride - r->rank, r->rank == 0, p, LARGE, 1);
    ranks_wait(r);
    double together = most_of_all(exchange_seconds(partner(r, stride), p));
    return together / most_of_all(alone);
}

// ---- messages concurrent with computation ----

// A thread that exchanges messages as the comm thread does (comm_thread.c).
typedef struct Exchanges {
    int other, calls;
    char *p;
    atomic_bool is_done;
} Exchanges;

static void *overlapped_exchange(void *exchanges)
{
    Exchanges *x = exchanges;
    MPI_Request both[2];

    rt_request_short_slice();
    for (int i = 0; i < x->calls && x->other >= 0; i++) {
        int done = 0;
        MPI_Irecv(x->p + LARGE, LARGE, MPI_BYTE, x->other, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(x->p, LARGE, MPI_BYTE, x->other, 0, MPI_COMM_WORLD, &both[1]);
        while (MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE), !done)
            usleep(RT_POLL_MICROSECONDS);
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
    Exchanges x = {.other = partner(r, stride), .p = p};
    double took, seconds = most_of_all(exchange_seconds(x.other, p));
    pthread_t thread;

    x.calls = (int)fmin(MAX_CALLS, ceil(WINDOW / seconds));
    ranks_wait(r);
    double alone = call_rate(m, WINDOW, NULL, &took);
    ranks_wait(r);
    if (pthread_create(&thread, NULL, overlapped_exchange, &x))
        MPI_Abort(MPI_COMM_WORLD, 1);
    double during = call_rate(m, 0, &x, &took);
    pthread_join(thread, NULL);
    double lost = fmax(1 - during / alone, 0) * took;
    return x.other < 0 ? 0 : lost / ((double)x.calls * LARGE);
}
