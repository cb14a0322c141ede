// Checks limits of the system that would end a run without a message: stack and file sizes.
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "runtime/internal.h"

// Stack bytes that each thread needs. The packed rows of a product take 768 KiB of it (gemm.c). The
// test models run with 1 MiB and crash with 768 KiB.
enum { STACK_BYTES = 1 << 20 };

bool rt_limits_check(const RtModel *m)
{
    struct rlimit stack;

    // Makes writing beyond the limit fail like a full disk.
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK_BYTES)
        return true;
    return rt_error(m, "the limit for stacks is %llu KiB, %d are needed: ulimit -s %d",
                    (unsigned long long)stack.rlim_cur >> 10, STACK_BYTES >> 10, STACK_BYTES >> 10);
}

// The size of the calling thread's stack.
static int64_t stack_bytes(void)
{
    pthread_attr_t attributes;
    size_t bytes = STACK_BYTES;
    void *place;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &place, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return (int64_t)bytes;
}

bool rt_stacks_check(const RtModel *m, int threads)
{
    int64_t least = STACK_BYTES;

#pragma omp parallel num_threads(threads) reduction(min : least)
    if (omp_get_thread_num() > 0)
        least = stack_bytes();
    if (least >= STACK_BYTES)
        return true;
    return rt_error(m, "threads have stacks of %lld KiB, %d are needed: OMP_STACKSIZE is too small",
                    (long long)least >> 10, STACK_BYTES >> 10);
}
