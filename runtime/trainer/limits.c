// Checks limits of the system that would end a run without a message: stack and file sizes.
#include <signal.h>
#include <sys/resource.h>

#include "runtime/core/core.h"
#include "runtime/trainer/run.h"

bool rt_limits_check(const RtModel *m)
{
    struct rlimit stack;

    // Makes writing beyond the limit fail like a full disk.
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= RT_STACK_BYTES)
        return true;
    return rt_error(m, "the limit for stacks is %llu KiB, %d are needed: ulimit -s %d",
                    (unsigned long long)stack.rlim_cur >> 10, RT_STACK_BYTES >> 10,
                    RT_STACK_BYTES >> 10);
}
