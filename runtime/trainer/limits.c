// Checks limits of the system that would end a run without a message: stack and file sizes.
// Raises the limit of open files.
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

void rt_limits_open(int n)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    rlim_t room = files.rlim_max - files.rlim_cur;
    files.rlim_cur += (rlim_t)n < room ? (rlim_t)n : room;
    setrlimit(RLIMIT_NOFILE, &files);
}
