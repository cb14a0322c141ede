// Helpers of the kernels' tests: random numbers, tensors with strides, an Rt.
#ifndef SHARDCC_TESTS_RUNTIME_KERNELS_H
#define SHARDCC_TESTS_RUNTIME_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_cpu.h"
#include "runtime/rt_workspace.h"

// The random numbers of one test, which are the same in every run.
typedef struct Random {
    uint64_t state;
} Random;

static inline int64_t draw(Random *r, int64_t n)  // in [0, n)
{
    r->state = r->state * 6364136223846793005 + 1442695040888963407;
    return (int64_t)((r->state >> 33) % (uint64_t)n);
}

static inline float draw_float(Random *r)  // in [-1, 1)
{
    return (float)draw(r, 1 << 24) * 0x1p-23f - 1;
}

// Draws a size in [0, most]; 0, 1 and `most` come up often.
static inline int64_t draw_size(Random *r, int64_t most)
{
    int64_t kind = draw(r, 16);

    return kind == 0 ? 0 : kind < 3 ? 1 : kind < 5 ? most : 1 + draw(r, most);
}

// Returns n random floats, aligned like the buffers of an arena.
static inline float *draw_floats(Random *r, int64_t n)
{
    void *room;

    if (posix_memalign(&room, 64, sizeof(float) * (size_t)(n + 1)))
        abort();
    float *x = room;
    for (int64_t i = 0; i < n; i++)
        x[i] = draw_float(r);
    return x;
}

// Gives the dims random strides: in a random order, and with a gap now and then. Returns how many
// elements the tensor spans.
static inline int64_t draw_strides(Random *r, int rank, const int64_t *dim, int64_t **stride)
{
    int order[16];
    int64_t span = 1;

    for (int i = 0; i < rank; i++)
        order[i] = i;
    for (int i = rank - 1; i > 0 && draw(r, 2); i--) {
        int j = (int)draw(r, i + 1), k = order[i];
        order[i] = order[j];
        order[j] = k;
    }
    for (int i = rank - 1; i >= 0; i--) {
        *stride[order[i]] = span;
        span *= dim[order[i]] + (draw(r, 6) == 0 ? 1 + draw(r, 3) : 0);
    }
    return span;
}

enum { TEST_KERNELS = 4 };

static inline Rt rt_new(int threads, int64_t workspace)
{
    Rt rt = {.threads = threads};

    rt.kernel = calloc(TEST_KERNELS, sizeof *rt.kernel);
    // Allocates exactly the bytes asked for, so that the address sanitizer sees a kernel that uses
    // more.
    size_t bytes = (size_t)workspace + (workspace == 0);
    if (posix_memalign((void **)&rt.workspace, 64, bytes))
        abort();
    memset(rt.workspace, 0xff, bytes);  // NaN
    return rt;
}

static inline void rt_delete(Rt *rt)
{
    rt_kernels_free(rt, TEST_KERNELS);
    free(rt->kernel);
    free(rt->workspace);
}

// Checks that each element of y is within `most` of x's, or equal to it, or that both are NaN.
static inline void check_floats(const char *what, const float *y, const float *x, int64_t n,
                                double most)
{
    for (int64_t i = 0; i < n; i++) {
        double e = fabs((double)y[i] - (double)x[i]);
        if (!(e <= most) && y[i] != x[i] && !(isnan(y[i]) && isnan(x[i])))
            fail_msg("%s: element %" PRId64 " of %" PRId64 " is %.9g, not %.9g (limit %g)", what, i,
                     n, (double)y[i], (double)x[i], most);
    }
}

#endif
