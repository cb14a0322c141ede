// Measures how fast ranks add up a tensor: all_reduce_mpi RANKS MIB, or all_reduce_tcp RANKS MIB
// HOST PORT with the host of rank 0, under mpirun. Prints the median seconds of an all_reduce of
// MIB MiB of f32 over all ranks.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/collectives.h"
#include "runtime/comm/comm.h"
#include "runtime/rt_cpu.h"
#include "runtime/rt_workspace.h"

enum { CALLS = 7, TIMEOUT = 60 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

// The median over the calls after the first one, which warms up. All ranks begin together.
static double median_seconds(Rt *rt, const RtExchange *p, float *x)
{
    double seconds[CALLS];

    for (int i = -1; i < CALLS; i++) {
        rt_comm_max(rt->comm, 0);
        double start = now();
        rt_all_reduce(rt, p, x, x);
        if (i >= 0)
            seconds[i] = now() - start;
    }
    qsort(seconds, CALLS, sizeof *seconds, compare);
    return seconds[CALLS / 2];
}

int main(int argc, char **argv)
{
    const int ranks = argc > 2 ? atoi(argv[1]) : 0, mebibytes = argc > 2 ? atoi(argv[2]) : 0;
    const RtModel m = {.name = "all_reduce", .transport = &TRANSPORT, .mesh = {1, {ranks}, {"x0"}}};
    const RtExchange p = {RT_F32, .outer = 1, .whole = (int64_t)mebibytes << 18, .inner = 1};
    Rt rt = {.device = &rt_cpu, .threads = 1};
    RtJob job = {.timeout = TIMEOUT, .port = argc > 4 ? atoi(argv[4]) : 0};

    if (job.port)
        snprintf(job.host, sizeof job.host, "%s", argv[3]);
    if (ranks < 2 || mebibytes < 1) {
        fprintf(stderr, "all_reduce RANKS MIB: at least 2 ranks and 1 MiB\n");
        return 2;
    }
    if (!rt_comm_open(&rt.comm, &m, &job) || !rt_collectives_open(&rt, &m, false))
        return 1;
    rt.workspace = malloc((size_t)rt_exchange_workspace(&p, ranks));
    float *x = calloc((size_t)p.whole, sizeof *x);
    if (!rt.workspace || !x)
        return 1;
    double seconds = median_seconds(&rt, &p, x);
    if (rt_comm_rank(rt.comm) == 0)
        printf("%.6f\n", seconds);
    rt_collectives_close(&rt, true);
    rt_comm_close(rt.comm);
    free(rt.workspace);
    free(x);
    return 0;
}
