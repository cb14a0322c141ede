// Shared by all kernels of the CPU. Code that only some kernels share has a header and a .c of the
// same name: --emit source copies the kernels that a program calls, with the headers that they
// include and those headers' .c files.
#ifndef SHARDCC_RT_CPU_INTERNAL_H
#define SHARDCC_RT_CPU_INTERNAL_H

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_cpu.h"
#include "runtime/rt_sizes.h"
#include "runtime/rt_workspace.h"

// The row of the table's shard that element `i` of the index selects; -1 if it is outside.
static inline int64_t rt_index(const RtGather *p, const void *index, int64_t i)
{
    int64_t x = p->index_type == RT_I32 ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];

    return x >= p->offset && x - p->offset < p->n ? x - p->offset : -1;
}

// Rows that an index selects: the first RT_PREFETCH_BYTES bytes of a row are prefetched
// RT_PREFETCH_ROWS rows ahead. The hardware cannot predict an index, but it does prefetch the rest
// of a row once the row is being read.
enum { RT_PREFETCH_ROWS = 2, RT_PREFETCH_BYTES = 512 };

// Copies `from`, or writes zeros if it is NULL. Other threads see streamed bytes only after
// rt_stream_fence.
static inline void rt_store(void *to, const void *from, int64_t bytes, bool is_streamed)
{
    if (is_streamed)
        rt_stream_store(to, from, bytes);
    else if (from)
        memcpy(to, from, (size_t)bytes);
    else
        memset(to, 0, (size_t)bytes);
}

// ---- prepared kernels ----

// The first member of every prepared kernel's struct. `release` frees the library's objects, not
// the struct.
typedef struct RtKernel {
    void (*release)(struct RtKernel *kernel);
    // for convolutions; the operands are in the order of the kernel's call
    void (*run)(Rt *rt, struct RtKernel *kernel, void *result, const void *left, const void *right);
} RtKernel;

// Allocates a zeroed struct of `size` bytes and stores it as kernel number `kernel`.
void *rt_kernel_new(Rt *rt, int kernel, size_t size);

// Prints what is wrong with that kernel and exits.
void rt_kernel_fail(int kernel, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), noreturn));

#endif
