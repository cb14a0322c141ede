// Threads: their waiting, their CPUs, and loops over the rows of a fused group.
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/rt_cpu.h"

void rt_limit_spinning(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT"))
        return;
    if (setenv("GOMP_SPINCOUNT", "5000", 1) == 0)
        execv("/proc/self/exe", argv);  // if that fails, the program continues with longer spinning
}

// CPU number n of the set.
static int nth_cpu(const cpu_set_t *set, int n)
{
    int cpu = 0;

    for (; !CPU_ISSET(cpu, set) || n > 0; cpu++)
        n -= CPU_ISSET(cpu, set) != 0;
    return cpu;
}

int rt_pin(int threads, int first)
{
    cpu_set_t all;
    int failed = 0;

    if (sched_getaffinity(0, sizeof all, &all))
        return 0;
    int cpus = CPU_COUNT(&all) - first;
    if (cpus < threads)
        return cpus > 0 ? cpus : 0;
#pragma omp parallel num_threads(threads) reduction(+ : failed)
    {
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(nth_cpu(&all, first + omp_get_thread_num()), &one);
        failed += sched_setaffinity(0, sizeof one, &one) != 0;
    }
    return threads - failed;
}

void rt_rows(Rt *rt, RtRows *f, char *const *p, int64_t rows, int64_t work)
{
    enum { WORTH = 1 << 15 };  // work below this runs on one thread; about 5 microseconds
    int team = work < WORTH ? 1 : rows < rt->threads ? (int)rows : rt->threads;

    if (team <= 1) {
        f(p, 0, rows);
        rt_stream_fence();
        return;
    }
#pragma omp parallel num_threads(team)
    {
        int64_t rank = omp_get_thread_num(), n = omp_get_num_threads();
        f(p, rows * rank / n, rows * (rank + 1) / n);
        rt_stream_fence();
    }
}
