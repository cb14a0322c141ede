// The CPU as a device: the arena is memory of the host, and a statement has been carried out when
// it returns.
#include "runtime/cpu/cpu_device.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/core/core.h"
#include "runtime/cpu/internal.h"

enum { LINE = 64 };  // bytes of a line of the caches

static size_t arena_bytes(const RtModel *m)
{
    return m->arena_bytes > 0 ? (size_t)m->arena_bytes : 1;
}

static bool cpu_allocate(Rt *rt, const RtModel *m)
{
    size_t bytes = arena_bytes(m);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return rt_error(m, "no memory for the arena of %.1f MiB: %s", (double)bytes / (1 << 20),
                        strerror(errno));
    // Huge pages reduce TLB misses; without support this does nothing.
    madvise(p, bytes, MADV_HUGEPAGE);
    rt->arena = p;
    return true;
}

static void cpu_close(Rt *rt, const RtModel *m)
{
    if (rt->kernel)
        rt_kernels_free(rt, m->n_kernels);
    if (rt->arena)
        munmap(rt->arena, arena_bytes(m));
    rt->arena = NULL;
}

// All threads copy what is large: most of the time goes to pages that are touched for the first
// time. Each thread has huge pages of its own.
static void copy(const Rt *rt, char *to, const char *from, int64_t bytes)
{
    enum { PART = 1 << 21 };
    int64_t parts = (bytes + PART - 1) / PART;

    if (parts < 2 || rt->threads < 2) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
#pragma omp parallel for num_threads(rt->threads) schedule(static)
    for (int64_t i = 0; i < parts; i++)
        memcpy(to + i * PART, from + i * PART, (size_t)(i < parts - 1 ? PART : bytes - i * PART));
}

static void cpu_copy_in(Rt *rt, int64_t to, const void *from, int64_t bytes)
{
    copy(rt, rt->arena + to, from, bytes);
}

// Copies around the caches: nobody reads those bytes soon.
static void stream(char *to, const char *from, int64_t bytes)
{
    int64_t before = (int64_t)(-(uintptr_t)to % LINE), lines;

    before = before < bytes ? before : bytes;
    lines = (bytes - before) / LINE * LINE;
    memcpy(to, from, (size_t)before);
    rt_stream_store(to + before, from + before, lines);
    before += lines;
    memcpy(to + before, from + before, (size_t)(bytes - before));
    rt_stream_fence();
}

static void cpu_copy_out(Rt *rt, void *to, int64_t from, int64_t bytes)
{
    enum { LARGE = 1 << 18 };
    const char *x = rt->arena + from;
    int64_t lines = (bytes + LINE - 1) / LINE;

    if (bytes < LARGE) {
        memcpy(to, x, (size_t)bytes);
        return;
    }
#pragma omp parallel for num_threads(rt->threads) schedule(static)
    for (int i = 0; i < rt->threads; i++) {
        int64_t first = lines * i / rt->threads * LINE, last = lines * (i + 1) / rt->threads * LINE;
        stream((char *)to + first, x + first, (last < bytes ? last : bytes) - first);
    }
}

static void cpu_fill(Rt *rt, int64_t to, const void *element, int64_t bytes, int64_t count)
{
    char *first = rt->arena + to;
    int64_t all = bytes * count, done = bytes;

    if (bytes == 1) {
        memset(first, *(const char *)element, (size_t)count);
        return;
    }
    if (count > 0)
        memcpy(first, element, (size_t)bytes);
    for (int64_t n; done < all; done += n) {  // doubles what is there
        n = done < all - done ? done : all - done;
        memcpy(first + done, first, (size_t)n);
    }
}

static void cpu_run(Rt *rt, RtPart part) { part(rt, rt->arena); }

static void cpu_synchronise(Rt *rt) { (void)rt; }

static void cpu_mark(Rt *rt, RtMark *m) { m->seconds = rt_seconds(); }

static double cpu_seconds_between(const RtMark *from, const RtMark *to)
{
    return to->seconds - from->seconds;
}

static void cpu_free_mark(RtMark *m) { *m = (RtMark){0}; }

const RtDevice rt_cpu = {
    .name = "cpu",
    .kind = "CPU",
    .can = RT_CAN_THREAD | RT_CAN_WATCH,
    .share = rt_cpu_share,
    .allocate = cpu_allocate,
    .close = cpu_close,
    .start_threads = rt_cpu_start_threads,
    .copy_in = cpu_copy_in,
    .copy_out = cpu_copy_out,
    .fill = cpu_fill,
    .run = cpu_run,
    .synchronise = cpu_synchronise,
    .mark = cpu_mark,
    .seconds_between = cpu_seconds_between,
    .free_mark = cpu_free_mark,
};
