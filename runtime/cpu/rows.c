// Loops over the rows of a fused group, in threads.
#include <omp.h>

#include "runtime/rt_cpu.h"

void rt_rows(Rt *rt, RtRows *f, const void *operands, int64_t rows, int64_t work)
{
    enum { WORTH = 1 << 15 };  // work below this runs on one thread; about 5 microseconds
    int team = rows * work < WORTH ? 1 : rows < rt->threads ? (int)rows : rt->threads;

    if (team <= 1) {
        f(operands, 0, rows);
        rt_stream_fence();
        return;
    }
#pragma omp parallel num_threads(team)
    {
        int64_t rank = omp_get_thread_num(), n = omp_get_num_threads();
        f(operands, rows * rank / n, rows * (rank + 1) / n);
        rt_stream_fence();
    }
}
