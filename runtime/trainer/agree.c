// Agreement of all ranks before they go on: that none of them failed, and that no signal asked to
// stop.
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/trainer/run.h"

// A mutable global, because a signal handler has no other place to write to.
static volatile sig_atomic_t interrupted;

static void interrupt(int signal) { interrupted = signal; }

// The first signal asks the run to stop after the step; the second has the default action and ends
// it.
void rt_catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

    interrupted = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void rt_buffer_messages(RtRun *run)
{
    enum { ROOM = 1 << 16 };

    fflush(stderr);
    run->stderr_buffer = rt_alloc(ROOM, 1);
    setvbuf(stderr, run->stderr_buffer, _IOFBF, ROOM);
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

// The largest number wins. A failure exceeds every signal, and the lowest rank's failure exceeds
// the others.
bool rt_agree(RtRun *run, bool ok)
{
    enum { FAILED = 1 << 10 };
    int ranks = rt_comm_ranks(run->rt.comm);

    if (run->has_failed)
        return false;
    int64_t x = rt_comm_max(run->rt.comm, ok ? interrupted : FAILED + ranks - run->rank);
    if (x < FAILED) {
        run->interrupted = (int)x;
        return true;
    }
    run->has_failed = true;
    if (run->rank == 0)
        return false;
    if (run->rank == ranks + FAILED - x) {
        rt_note("on rank %d of %d", run->rank, ranks);
        fflush(stderr);
    } else {
        __fpurge(stderr);
    }
    return false;
}
