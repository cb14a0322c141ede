// Loops over the rows of a fused group.
#include <omp.h>

#include "runtime/rt.h"

void rt_rows(Rt *rt, RtRows *f, char *m, int64_t layer, int64_t rows)
{
    int team = rows < rt->threads ? (int)rows : rt->threads;

    if (team <= 1) {
        f(m, layer, 0, rows);
        return;
    }
#pragma omp parallel num_threads(team)
    {
        int64_t rank = omp_get_thread_num();
        f(m, layer, rows * rank / team, rows * (rank + 1) / team);
    }
}
