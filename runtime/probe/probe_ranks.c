// Starts the ranks of a probe, or connects those that a launcher started, and ends them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"

#define START_SECONDS 60.0    // in which all ranks must have come
#define WAIT_SECONDS 86400.0  // for the ranks that measure meanwhile

// ---- ranks ----

static void refuse(const Ranks *r, const char *why)
{
    if (r->rank == 0)
        fprintf(stderr, "probe: %s\n", why);
    rt_comm_close(r->comm);
    exit(1);
}

// A number of this rank's machine, even if ranks have different host names (containers).
static int64_t machine_number(void)
{
    uint64_t boot = rt_boot_number();
    char name[64] = {0};

    if (!boot)
        gethostname(name, sizeof name - 1);
    return (int64_t)((boot ? boot : rt_hash(0, name)) >> 1);
}

// The number of ranks on this rank's machine.
static int count_neighbours(const Ranks *r)
{
    int64_t own = machine_number();
    int n = 0;

    for (int i = 0; i < r->n; i++)
        n += rt_comm_max(r->comm, i == r->rank ? own : 0) == own;
    return n;
}

// An axis of all ranks, or as many of two as the ranks are made of.
static RtMesh mesh_of(const Ranks *r)
{
    RtMesh m = {1, {r->n}, {"x"}};
    static const char *const names[RT_MAX_AXES] = {"x", "y", "z", "w"};

    if (!r->model.collectives)
        return m;
    m.n_axes = 0;
    for (int n = r->n; n > 1; n /= 2) {
        if (n % 2 || m.n_axes == RT_MAX_AXES)
            refuse(r, "links of GPUs are measured among 2, 4, 8 or 16 ranks");
        m.name[m.n_axes] = names[m.n_axes];
        m.size[m.n_axes++] = 2;
    }
    return m;
}

void ranks_start(Ranks *r, const RtModel *m, RtJob job)
{
    job.timeout = START_SECONDS;
    *r = (Ranks){.n = 1, .per_host = 1, .per_machine = 1, .model = *m};
    if (!rt_launched(&r->model, &job, &r->n, &r->rank))
        exit(1);
    if (r->n > MAX_RANKS)
        refuse(r, "links are measured among 128 ranks at most");
    if (r->n < 2)
        return;
    if (!r->model.mesh.n_axes)
        r->model.mesh = mesh_of(r);
    if (!rt_comm_open(&r->comm, &r->model, &job))
        exit(1);
    r->comm->timeout = WAIT_SECONDS;
    r->rank = rt_comm_rank(r->comm);
}

void ranks_begin(Ranks *r, const RtModel *m, int spawn)
{
    int in_host = 0;

    RtJob job = {0};
    int status = 0;

    if (spawn == 1) {
        *r = (Ranks){.n = 1, .per_host = 1, .per_machine = 1, .model = *m, .is_spawned = true};
        return;
    }
    if (spawn && !rt_spawn(m, spawn, &job, &status))
        exit(status);
    ranks_start(r, m, job);
    r->is_spawned = spawn;
    if (!r->comm)
        return;
    r->per_host = 0;
    for (int i = 0; i < r->n; i++) {
        r->per_host += r->comm->window[i] != NULL;
        in_host += r->comm->window[i] && i < r->rank;
    }
    int first = (int)rt_comm_max(r->comm, r->rank ? 0 : r->per_host);
    if (rt_comm_max(r->comm, r->per_host != first || in_host != r->rank % first))
        refuse(r, "the ranks of a host must be consecutive, equally many on each: mpirun --map-by "
                  "slot");
    r->per_machine = count_neighbours(r);
}

void ranks_end(const Ranks *r)
{
    ranks_wait(r);
    rt_comm_close(r->comm);
}
