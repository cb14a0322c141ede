// A GPU as a device: the arena is memory of its own, and calls, copies and fills go to one stream,
// which carries them out in their order. Bytes of the host go through staging memory that is
// pinned.
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/collectives.h"
#include "runtime/comm/comm.h"
#include "runtime/core/core.h"
#include "runtime/cuda/near_cpus.h"
#include "runtime/device.h"

// Bytes of each half of the staging memory. One is filled while the other one is copied.
enum { HALF = 4 << 20 };

struct RtCudaStaging {
    char *half[2];
    cudaEvent_t copied[2];  // of the half's last copy to the GPU
    int next;
};

static bool is_fine(const RtModel *m, cudaError_t e, const char *what)
{
    return e == cudaSuccess ||
           rt_error(m, "%s: %s (%s)", what, cudaGetErrorString(e), cudaGetErrorName(e));
}

// ---- open and close ----

// The driver is as old as the newest CUDA that it knows; a version is 1000 major + 10 minor.
static bool check_driver(const RtModel *m)
{
    int driver = 0, runtime = CUDART_VERSION;

    if (cudaDriverGetVersion(&driver) || driver == 0)
        return rt_error(m, "there is no CUDA driver; the program needs one for CUDA %d.%d or newer",
                        runtime / 1000, runtime % 1000 / 10);
    if (driver / 1000 < runtime / 1000)
        return rt_error(m, "the driver is for CUDA %d.%d, the program needs %d.%d", driver / 1000,
                        driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return true;
}

static void gpu_list(RtDevices *to)
{
    struct cudaDeviceProp gpu;
    int version = 0;

    *to = (RtDevices){.name = "no GPU", .driver = "none"};
    if (cudaDriverGetVersion(&version) == cudaSuccess && version)
        snprintf(to->driver, sizeof to->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (cudaGetDeviceCount(&to->n) != cudaSuccess)
        to->n = 0;
    if (to->n && cudaGetDeviceProperties(&gpu, 0) == cudaSuccess)
        snprintf(to->name, sizeof to->name, "%.127s", gpu.name);
}

// Ranks of a host take its GPUs in turn.
static bool choose_gpu(Rt *rt, const RtModel *m)
{
    int n = 0;
    cudaError_t e = cudaGetDeviceCount(&n);

    if (e == cudaErrorNoDevice || (!e && n == 0))
        return rt_error(m, "there is no GPU");
    if (e)
        return is_fine(m, e, "GPUs");
    if (rt->gpu.number < 0)
        rt->gpu.number = rt_comm_rank_of_host(rt->comm) % n;
    if (rt->gpu.number >= n)
        return rt_error(m, "--device %d: this machine has %d GPU%s, from 0 on", rt->gpu.number, n,
                        n == 1 ? "" : "s");
    if (rt->comm)
        rt_cuda_bind_near(rt->gpu.number);
    return is_fine(m, cudaSetDevice(rt->gpu.number), "the GPU");
}

static bool load_kernels(Rt *rt, const RtModel *m)
{
    struct cudaDeviceProp gpu;
    cudaError_t e = rt_cuda_load(rt_cuda_of(rt), m->kernels);

    if (e != cudaErrorNoKernelImageForDevice)
        return is_fine(m, e, "kernels");
    if (!is_fine(m, cudaGetDeviceProperties(&gpu, rt->gpu.number), "the GPU"))
        return false;
    return rt_error(m, "%s is sm_%d%d, the program is for %s", gpu.name, gpu.major, gpu.minor,
                    m->kernels_for);
}

static bool lacks_memory(const Rt *rt, const RtModel *m, size_t available, size_t all)
{
    const double mib = 1 << 20;
    RtDescription by;

    rt_collectives_describe(rt, &by);
    return rt_error(m, "the arena takes %.1f MiB, but the GPU has %.1f MiB free of %.1f%s%s",
                    (double)m->arena_bytes / mib, (double)available / mib, (double)all / mib,
                    by.device_bytes ? "; exchanges are by " : "", by.device_bytes ? by.text : "");
}

// Exchanges have begun: what they take of the GPU isn't free.
static bool gpu_allocate(Rt *rt, const RtModel *m)
{
    size_t available = 0, all = 0, bytes = (size_t)m->arena_bytes;
    void *p = NULL;

    if (!is_fine(m, cudaMemGetInfo(&available, &all), "the GPU's memory"))
        return false;
    if (cudaMalloc(&p, bytes) == cudaErrorMemoryAllocation)
        return lacks_memory(rt, m, available, all);
    rt->arena = p;
    return is_fine(m, p ? cudaMemsetAsync(p, 0, bytes, rt_cuda_of(rt)->stream) : cudaGetLastError(),
                   "the arena");
}

static bool open_staging(RtCuda *c, const RtModel *m)
{
    RtCudaStaging *s = c->staging = rt_alloc(1, sizeof *s);

    for (int i = 0; i < 2; i++) {
        void *half = NULL;
        if (!is_fine(m, cudaMallocHost(&half, HALF), "staging memory") ||
            !is_fine(m, cudaEventCreateWithFlags(&s->copied[i], cudaEventDisableTiming), "events"))
            return false;
        s->half[i] = half;
    }
    return true;
}

static bool gpu_open(Rt *rt, const RtModel *m)
{
    rt->state = rt_alloc(1, sizeof(RtCuda));
    return check_driver(m) && choose_gpu(rt, m) && load_kernels(rt, m) &&
           is_fine(m, cudaStreamCreateWithFlags(&rt_cuda_of(rt)->stream, cudaStreamNonBlocking),
                   "streams") &&
           open_staging(rt_cuda_of(rt), m);
}

static void close_staging(RtCudaStaging *s)
{
    for (int i = 0; s && i < 2; i++) {
        if (s->copied[i])
            cudaEventDestroy(s->copied[i]);
        if (s->half[i])
            cudaFreeHost(s->half[i]);
    }
    free(s);
}

static void gpu_close(Rt *rt, const RtModel *m)
{
    RtCuda *c = rt_cuda_of(rt);

    if (!c)
        return;
    if (rt->kernel)
        rt_kernels_free(rt, m->n_kernels);
    if (c->stream) {
        cudaStreamSynchronize(c->stream);
        cudaStreamDestroy(c->stream);
    }
    if (rt->arena)
        cudaFree(rt->arena);
    close_staging(c->staging);
    rt_cuda_graphs_free(c);
    if (c->library)
        rt_cuda_unload(c);
    free(c);
    rt->arena = NULL;
    rt->state = NULL;
}

// The threads of the host, which draw weights.
static RtShare gpu_share(struct RtComm *c)
{
    cpu_set_t set;

    return (RtShare){.threads = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set)};
}

// A step needs no threads of the host except its own.
static bool gpu_start_threads(Rt *rt, const RtModel *m, RtShare share, int threads, bool pins)
{
    rt->threads = 1;
    return true;
}

// ---- bytes ----

// Takes the half of the staging memory whose last copy to the GPU is the older one.
static int take_half(RtCudaStaging *s)
{
    int i = s->next;

    s->next = 1 - i;
    rt_cuda_must(cudaEventSynchronize(s->copied[i]), "a copy to the GPU");
    return i;
}

static void gpu_copy_in(Rt *rt, int64_t to, const void *from, int64_t bytes)
{
    RtCudaStaging *s = rt_cuda_of(rt)->staging;

    for (int64_t at = 0, n; at < bytes; at += n) {
        int i = take_half(s);
        n = rt_least(HALF, bytes - at);
        memcpy(s->half[i], (const char *)from + at, (size_t)n);
        rt_cuda_must(cudaMemcpyAsync(rt->arena + to + at, s->half[i], (size_t)n,
                                     cudaMemcpyHostToDevice, rt_cuda_of(rt)->stream),
                     "a copy to the GPU");
        rt_cuda_must(cudaEventRecord(s->copied[i], rt_cuda_of(rt)->stream), "a copy to the GPU");
    }
}

static void gpu_copy_out(Rt *rt, void *to, int64_t from, int64_t bytes)
{
    RtCudaStaging *s = rt_cuda_of(rt)->staging;

    for (int64_t at = 0, n; at < bytes; at += n) {
        int i = take_half(s);
        n = rt_least(HALF, bytes - at);
        rt_cuda_must(cudaMemcpyAsync(s->half[i], rt->arena + from + at, (size_t)n,
                                     cudaMemcpyDeviceToHost, rt_cuda_of(rt)->stream),
                     "a copy from the GPU");
        rt_cuda_must(cudaStreamSynchronize(rt_cuda_of(rt)->stream), "a copy from the GPU");
        memcpy((char *)to + at, s->half[i], (size_t)n);
    }
}

static void gpu_fill(Rt *rt, int64_t to, const void *element, int64_t bytes, int64_t count)
{
    RtCopy c = {.bytes = (int)bytes, .rank = 1, .dim = {count}, .y_stride = {1}};
    RtCudaPattern pattern;

    for (int64_t i = 0; i < (int64_t)sizeof pattern; i += bytes)
        memcpy((char *)&pattern + i, element, (size_t)bytes);
    rt_cuda_put(rt, &c, rt->arena + to, pattern);
}

static void gpu_synchronise(Rt *rt)
{
    rt_cuda_must(cudaStreamSynchronize(rt_cuda_of(rt)->stream), "the GPU");
}

// ---- times ----

static void gpu_mark(Rt *rt, RtMark *m)
{
    cudaEvent_t event = m->event;

    if (!event)
        rt_cuda_must(cudaEventCreate(&event), "an event");
    m->event = event;
    rt_cuda_must(cudaEventRecord(event, rt_cuda_of(rt)->stream), "an event");
}

static double gpu_seconds_between(const RtMark *from, const RtMark *to)
{
    float ms = 0;

    rt_cuda_must(cudaEventElapsedTime(&ms, from->event, to->event), "an event");
    return 1e-3 * (double)ms;
}

static void gpu_free_mark(RtMark *m)
{
    if (m->event)
        cudaEventDestroy(m->event);
    *m = (RtMark){0};
}

const RtDevice rt_cuda = {
    .name = "cuda",
    .kind = "GPU",
    .can = RT_CAN_CHOOSE | RT_CAN_RECORD | RT_CAN_ROUND | RT_CAN_TUNE | RT_CAN_LOAD,
    .list = gpu_list,
    .share = gpu_share,
    .open = gpu_open,
    .allocate = gpu_allocate,
    .close = gpu_close,
    .start_threads = gpu_start_threads,
    .tune = rt_cuda_tune,
    .copy_in = gpu_copy_in,
    .copy_out = gpu_copy_out,
    .fill = gpu_fill,
    .run = rt_cuda_run,
    .synchronise = gpu_synchronise,
    .mark = gpu_mark,
    .seconds_between = gpu_seconds_between,
    .free_mark = gpu_free_mark,
};
