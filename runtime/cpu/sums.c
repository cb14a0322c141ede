// Sums the columns of the rows that a fused group computes.
//
// Rows are split into chunks, and chunks into blocks, by the shape alone. Sums of a block are
// floats; sums of blocks and chunks are added in double. So the tree of additions is the same for
// any number of threads.
#include <string.h>

#include "runtime/cpu/internal.h"

// Rows of a block, which are summed in floats: enough elements to make the cost of the call
// negligible.
static int64_t block_rows(const RtSums *q)
{
    return rt_most(32, rt_least(256, 8192 / rt_most(1, q->width)));
}

// Sums chunk `chunk` of the rows at one outer index into partial[n * width].
static void sum_chunk(RtSumRows *f, const void *operands, const RtSums *q, int64_t outer,
                      int64_t chunk, float *s, double *partial)
{
    int64_t chunks = rt_sums_chunks(q), count = q->n * q->width, step = block_rows(q);
    int64_t first = rt_partition(q->rows, chunk, chunks),
            last = rt_partition(q->rows, chunk + 1, chunks);

    memset(partial, 0, sizeof *partial * (size_t)count);
    for (int64_t r = first; r < last; r += step) {
        memset(s, 0, sizeof *s * (size_t)count);
        f(operands, outer * q->rows + r, outer * q->rows + rt_least(last, r + step), s);
        for (int64_t i = 0; i < count; i++)
            partial[i] += (double)s[i];
    }
    rt_stream_fence();
}

void rt_sums(Rt *rt, RtSumRows *f, const void *operands, const RtSums *q, float *const *y)
{
    int64_t chunks = rt_sums_chunks(q), units = q->outer * chunks, count = q->n * q->width;
    double *partial = (double *)rt->workspace;
    float *sums = (float *)(partial + units * count);
    int team =
        (int)rt_least(rt_team(rt, q->outer * q->rows * q->width * q->work), rt_most(1, units));

#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t i = 0; i < units; i++)
        sum_chunk(f, operands, q, i / chunks, i % chunks, sums + omp_get_thread_num() * count,
                  partial + i * count);
#pragma omp parallel for num_threads(rt_team(rt, units *count)) schedule(static)
    for (int64_t i = 0; i < q->outer * count; i++) {
        int64_t outer = i / count, k = i % count;
        double total = 0;
        for (int64_t c = 0; c < chunks; c++)
            total += partial[(outer * chunks + c) * count + k];
        y[k / q->width][outer * q->width + k % q->width] = (float)total;
    }
}
