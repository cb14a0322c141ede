// Runs a net's compiled program of several ranks as trainers do: a process for each, which opens
// its device, joins the others by the program's transport, and carries out one step.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/collectives.h"
#include "runtime/comm/comm.h"
#include "runtime/core/core.h"
#include "runtime/device.h"
#include "tests/nets/processes.h"

enum { WAIT_S = 60 };  // of a rank for another one

static bool open_rank(Rt *rt, const RtModel *m, int ranks, int rank)
{
    RtJob job = {.timeout = WAIT_S, .rank = rank, .size = ranks};

    snprintf(job.name, sizeof job.name, "nets %d", (int)getppid());
    *rt = (Rt){.device = m->device, .threads = 1, .gpu = {.has_graphs = true, .number = -1}};
    if (!rt_comm_open(&rt->comm, m, &job))
        return false;
    rt->shard = rt_shards(m, rank);
    rt->kernel = rt_alloc((size_t)m->n_kernels + 1, sizeof *rt->kernel);
    return (!m->device->open || m->device->open(rt, m)) && rt_collectives_open(rt, m, true) &&
           m->device->allocate(rt, m);
}

static void run_part(Rt *rt, RtPart part)
{
    if (part)
        rt->device->run(rt, part);
}

// One rank's step on its arena, which the host has.
static int run_rank(const RtModel *m, int ranks, int rank, const char *bytes, char *to)
{
    Rt rt;

    if (!open_rank(&rt, m, ranks, rank))
        return 1;
    if (m->init)
        m->init(&rt);
    m->device->copy_in(&rt, 0, bytes, m->arena_bytes);
    run_part(&rt, m->prepare);
    run_part(&rt, m->micro);
    run_part(&rt, m->reduce);
    run_part(&rt, m->update);
    m->device->synchronise(&rt);
    m->device->copy_out(&rt, to, 0, m->arena_bytes);
    rt_collectives_close(&rt, true);
    m->device->close(&rt, m);
    rt_comm_close(rt.comm);
    return 0;
}

bool run_processes(const RtModel *m, char *const *arena, int ranks)
{
    size_t bytes = (size_t)m->arena_bytes;
    char *shared = mmap(NULL, bytes * (size_t)ranks, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ok = shared != MAP_FAILED;
    int status;

    fflush(NULL);
    for (int r = 0; r < ranks && ok; r++)
        if (!fork())
            _exit(run_rank(m, ranks, r, arena[r], shared + bytes * (size_t)r));
    for (int r = 0; r < ranks && shared != MAP_FAILED; r++)
        ok = wait(&status) > 0 && status == 0 && ok;
    for (int r = 0; r < ranks && ok; r++)
        memcpy(arena[r], shared + bytes * (size_t)r, bytes);
    if (shared != MAP_FAILED)
        munmap(shared, bytes * (size_t)ranks);
    return ok;
}
