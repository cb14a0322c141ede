// The share of the CPUs that a rank has if several ranks run on one machine.
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/comm/comm.h"
#include "runtime/cpu/cpu_device.h"

// The FNV-1a hash by Fowler, Noll and Vo.
static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

// A positive number that is equal in two processes if they may use the same CPUs of the same
// machine.
static int64_t name_cpus(void)
{
    uint64_t hash = 0xcbf29ce484222325;
    char boot[64];
    cpu_set_t set;
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

    if (f) {
        hash = mix(hash, boot, fread(boot, 1, sizeof boot, f));
        fclose(f);
    }
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        hash = mix(hash, &set, sizeof set);
    return (int64_t)(hash >> 2) + 1;
}

RtShare rt_cpu_share(RtComm *c)
{
    int64_t own = name_cpus();
    int me = rt_comm_rank(c), n = 0, index = 0, threads = omp_get_max_threads();

    for (int r = 0; r < rt_comm_ranks(c); r++) {
        bool shares = rt_comm_max(c, r == me ? own : 0) == own;
        n += shares;
        index += shares && r < me;
    }
    if (!getenv("OMP_NUM_THREADS"))
        threads /= n;
    return (RtShare){threads > 0 ? threads : 1, index};
}
