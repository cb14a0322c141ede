// Loops over the rows of a fused group.
#include <omp.h>

#include "runtime/rt.h"

void rt_rows(Rt *rt, RtRows *f, char *const *p, int64_t rows)
{
    int team = rows < rt->threads ? (int)rows : rt->threads;

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
