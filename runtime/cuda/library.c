// Loads a program's kernels and launches them by name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/comm.h"
#include "runtime/cuda/cuda.h"

typedef struct RtCudaKernel {
    char *name;  // NULL: unused
    cudaKernel_t kernel;
} RtCudaKernel;

static struct RtComm *job;  // which an error ends; NULL: this process alone

void rt_cuda_must(cudaError_t e, const char *what)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "error: %s: %s (%s)\n", what, cudaGetErrorString(e), cudaGetErrorName(e));
    rt_comm_fail(job);
    exit(1);
}

void rt_cuda_ends_job(struct RtComm *c) { job = c; }

cudaError_t rt_cuda_load(RtCuda *c, const void *image)
{
    return cudaLibraryLoadData(&c->library, image, NULL, NULL, 0, NULL, NULL, 0);
}

void rt_cuda_unload(RtCuda *c)
{
    for (int i = 0; i < c->cap; i++)
        free(c->kernel[i].name);
    free(c->kernel);
    rt_cuda_matmuls_free(c);
    cudaLibraryUnload(c->library);
    c->kernel = NULL;
    c->n = c->cap = 0;
}

// The kernel's entry in the table, or the free one where it belongs.
static RtCudaKernel *slot_of(const RtCuda *c, const char *name)
{
    uint32_t hash = 2166136261u;

    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    for (uint32_t i = hash;; i++) {
        RtCudaKernel *k = &c->kernel[i % (uint32_t)c->cap];
        if (!k->name || strcmp(k->name, name) == 0)
            return k;
    }
}

// Makes a table that is at most half full.
static void grow(RtCuda *c)
{
    RtCuda old = *c;

    c->cap = old.cap ? 2 * old.cap : 64;
    c->kernel = calloc((size_t)c->cap, sizeof *c->kernel);
    if (!c->kernel)
        rt_cuda_must(cudaErrorMemoryAllocation, "kernels");
    for (int i = 0; i < old.cap; i++)
        if (old.kernel[i].name)
            *slot_of(c, old.kernel[i].name) = old.kernel[i];
    free(old.kernel);
}

static cudaKernel_t kernel_of(RtCuda *c, const char *name)
{
    if (2 * c->n >= c->cap)
        grow(c);
    RtCudaKernel *k = slot_of(c, name);
    if (!k->name) {
        cudaError_t e = cudaLibraryGetKernel(&k->kernel, c->library, name);
        char *copy = strdup(name);
        rt_cuda_must(copy ? e : cudaErrorMemoryAllocation, name);
        k->name = copy;
        c->n++;
    }
    return k->kernel;
}

void rt_cuda_launch(Rt *rt, const char *kernel, RtCudaGrid grid, int threads, void **args)
{
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return;
    if (grid.x > INT32_MAX || grid.y > UINT16_MAX || grid.z > UINT16_MAX)
        rt_cuda_must(cudaErrorInvalidConfiguration, kernel);
    cudaLaunchConfig_t config = {.gridDim = {(unsigned)grid.x, (unsigned)grid.y, (unsigned)grid.z},
                                 .blockDim = {(unsigned)threads, 1, 1},
                                 .stream = rt_cuda_of(rt)->stream};
    rt_cuda_must(
        cudaLaunchKernelExC(&config, (const void *)kernel_of(rt_cuda_of(rt), kernel), args),
        kernel);
}

static const char *suffix_of(RtType t)
{
    switch (t) {
    case RT_F32:
        return "f32";
    case RT_F64:
        return "f64";
    case RT_F16:
        return "f16";
    case RT_BF16:
        return "bf16";
    case RT_I8:
        return "i8";
    case RT_I16:
        return "i16";
    case RT_I32:
        return "i32";
    case RT_I64:
    case RT_U64:
        return "i64";
    case RT_U8:
    case RT_BOOL:
        return "u8";
    case RT_U16:
        return "u16";
    case RT_U32:
        return "u32";
    default:
        abort();
    }
}

void rt_cuda_launch_typed(Rt *rt, const char *kernel, RtType t, RtCudaGrid grid, int threads,
                          void **args)
{
    char name[64];

    snprintf(name, sizeof name, "%s_%s", kernel, suffix_of(t));
    rt_cuda_launch(rt, name, grid, threads, args);
}
