// Threads of the CPU: their number, their waiting, their stacks and their CPUs.
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/cpu/cpu_device.h"
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

// The size of the calling thread's stack.
static int64_t stack_bytes(void)
{
    pthread_attr_t attributes;
    size_t bytes = RT_STACK_BYTES;
    void *stack;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return (int64_t)bytes;
}

// Are the stacks of the other threads large enough?
static bool check_stacks(const RtModel *m, int threads)
{
    int64_t least = RT_STACK_BYTES;

#pragma omp parallel num_threads(threads) reduction(min : least)
    if (omp_get_thread_num() > 0)
        least = stack_bytes();
    if (least >= RT_STACK_BYTES)
        return true;
    return rt_error(m, "threads have stacks of %lld KiB, %d are needed: OMP_STACKSIZE is too small",
                    (long long)least >> 10, RT_STACK_BYTES >> 10);
}

bool rt_cpu_start_threads(Rt *rt, const RtModel *m, RtShare share, int threads, bool pins)
{
    int most = m->threads, pinned;

    if (threads > most)
        return rt_error(m,
                        "--threads %d: at most %d are possible; shardcc --threads N sets that "
                        "number, up to %d",
                        threads, most, RT_MAX_THREADS);
    if (!threads)
        threads = share.threads < most ? share.threads : most;
    omp_set_num_threads(threads);
    rt->threads = threads;
    if (!check_stacks(m, threads))
        return false;
    if (pins && (pinned = rt_pin(threads, share.index * threads)) < threads)
        return rt_error(m, "--pin: %d threads, but CPUs for %d", threads, pinned);
    return true;
}
