// Where the operands of a collective lie that tests/ranks/exchange.c calls: in memory of the host,
// or, compiled with ON_GPU, in the GPU's, to which they are copied.
#ifndef SHARDCC_TESTS_RANKS_OPERANDS_H
#define SHARDCC_TESTS_RANKS_OPERANDS_H

#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/rt_cuda_workspace.h"
#include "runtime/rt_workspace.h"

enum { LARGE_BYTES = 3 << 21, SMALL_BYTES = 1 << 18 };  // of an operand at most

// Two workspaces, as two calls may be carried out at the same time. `pinned`: memory of the host
// for copies to x, y and count, which a GPU may carry out late.
typedef struct Operands {
    char *x, *y, *workspace, *other, *count, *pinned[3];
} Operands;

#ifdef ON_GPU
#include "runtime/cuda/cuda.h"
#include "runtime/rt_cuda.h"

#define DEVICE rt_cuda
#define COLLECTIVES &rt_cuda_collectives
#define WORKSPACE rt_cuda_exchange_workspace

static inline Operands operands_new(size_t bytes)
{
    Operands o;
    char **const all[] = {&o.x, &o.y, &o.workspace, &o.other, &o.count};

    for (int i = 0; i < 5; i++) {
        void *p = NULL;
        rt_cuda_must(cudaMalloc(&p, bytes), "memory");
        *all[i] = p;
    }
    for (int i = 0; i < 3; i++) {
        void *p = NULL;
        rt_cuda_must(cudaMallocHost(&p, bytes), "memory");
        o.pinned[i] = p;
    }
    return o;
}

static inline void operands_free(Operands *o)
{
    char *const all[] = {o->x, o->y, o->workspace, o->other, o->count};

    for (int i = 0; i < 5; i++)
        cudaFree(all[i]);
    for (int i = 0; i < 3; i++)
        cudaFreeHost(o->pinned[i]);
}

static inline void bytes_put(char *to, const void *from, size_t bytes)
{
    rt_cuda_must(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "a copy");
}

// Copies bytes to an operand, as late as the stream of calls allows; from one, once all calls have
// been carried out.
static inline void operand_put(Rt *rt, Operands *o, char **to, const void *from, size_t bytes)
{
    char *pinned = o->pinned[to == &o->x ? 0 : to == &o->y ? 1 : 2];

    memcpy(pinned, from, bytes);
    rt_cuda_must(
        cudaMemcpyAsync(*to, pinned, bytes, cudaMemcpyHostToDevice, rt_cuda_of(rt)->stream),
        "a copy");
}

static inline void operand_get(Rt *rt, void *to, const char *from, size_t bytes)
{
    rt_cuda_must(cudaStreamSynchronize(rt_cuda_of(rt)->stream), "the GPU");
    rt_cuda_must(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "a copy");
}

#else
#include "runtime/rt_cpu.h"

#define DEVICE rt_cpu
#define COLLECTIVES NULL
#define WORKSPACE rt_exchange_workspace

static inline Operands operands_new(size_t bytes)
{
    return (Operands){.workspace = malloc(bytes), .other = malloc(bytes)};
}

static inline void operands_free(Operands *o)
{
    free(o->workspace);
    free(o->other);
}

static inline void bytes_put(char *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

// The operand is where the bytes are.
static inline void operand_put(Rt *rt, Operands *o, char **to, const void *from, size_t bytes)
{
    (void)rt, (void)o, (void)bytes;
    *to = (char *)from;
}

static inline void operand_get(Rt *rt, void *to, const char *from, size_t bytes)
{
    (void)rt;
    if (to != from)
        memcpy(to, from, bytes);
}

#endif

#endif
