// Agreement of all ranks before they go on: that none of them failed, and that no signal asked to
// stop.
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/trainer/run.h"

// A mutable global, because a signal handler can write to nothing else.
static volatile sig_atomic_t interrupted;

static void interrupt(int signal) { interrupted = signal; }

// The first signal asks the run to stop after the step; the second has the default action and ends
// it. SIGUSR1 may come twice, from the scheduler and from the launcher that hands it on.
void rt_catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

    interrupted = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
}

void rt_buffer_messages(RtRun *run)
{
    enum { CAPACITY = 1 << 16 };

    fflush(stderr);
    run->stderr_buffer = rt_alloc(CAPACITY, 1);
    setvbuf(stderr, run->stderr_buffer, _IOFBF, CAPACITY);
}

void rt_flush_messages(RtRun *run)
{
    if (!run->stderr_buffer)
        return;
    fflush(stderr);
    setvbuf(stderr, NULL, _IONBF, 0);
    free(run->stderr_buffer);
    run->stderr_buffer = NULL;
}

// Returns 0 if no rank has failed, else 1 + the lowest rank that has. The largest number wins: a
// failure exceeds every signal, and the lowest rank's failure exceeds the others.
static int first_failure(RtRun *run, bool ok)
{
    enum { FAILED = 1 << 10 };
    int ranks = rt_comm_ranks(run->rt.comm);
    int64_t x = rt_comm_max(run->rt.comm, ok ? interrupted : FAILED + ranks - run->rank);

    if (x >= FAILED)
        return 1 + ranks - (int)(x - FAILED);
    run->interrupted = (int)x;
    return 0;
}

// Prints the messages of one rank, and none of the others. Those of rank 0 are printed already.
static void say_of(const RtRun *run, int rank)
{
    if (run->rank == 0)
        return;
    if (run->rank == rank) {
        rt_note("on rank %d of %d", rank, rt_comm_ranks(run->rt.comm));
        fflush(stderr);
    } else {
        __fpurge(stderr);
    }
}

bool rt_agree(RtRun *run, bool ok)
{
    if (run->has_failed)
        return false;
    int failed = first_failure(run, ok);
    run->has_failed = failed;
    if (failed)
        say_of(run, failed - 1);
    return !failed;
}

bool rt_agree_to_try(RtRun *run, bool ok)
{
    if (run->has_failed)
        return false;
    int failed = first_failure(run, ok);
    if (failed)
        say_of(run, failed - 1);
    return !failed;
}

uint32_t rt_join_bits(RtRun *run, uint32_t x)
{
    uint32_t all = 0;

    for (int r = 0; r < rt_comm_ranks(run->rt.comm); r++)
        all ^= (uint32_t)rt_comm_max(run->rt.comm, r == run->rank ? x : 0);
    return all;
}
