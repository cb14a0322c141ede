// Threads: how they wait, and loops over the rows of a fused group.
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/rt.h"

void rt_settle(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT"))
        return;
    if (setenv("GOMP_SPINCOUNT", "5000", 1) == 0)
        execv("/proc/self/exe", argv);  // if that fails, it goes on as it is
}

void rt_rows(Rt *rt, RtRows *f, char *const *p, int64_t rows, int64_t work)
{
    enum { WORTH = 1 << 15 };  // about 5 microseconds
    int team = work < WORTH ? 1 : rows < rt->threads ? (int)rows : rt->threads;

    if (team <= 1) {
        f(p, 0, rows);
        return;
    }
#pragma omp parallel num_threads(team)
    {
        int64_t rank = omp_get_thread_num(), n = omp_get_num_threads();
        f(p, rows * rank / n, rows * (rank + 1) / n);
    }
}
