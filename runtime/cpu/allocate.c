// The arena: the one allocation that holds all buffers of a model.
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/internal.h"

bool rt_arena_open(RtArena *a, const RtModel *m)
{
    size_t bytes = m->arena_bytes > 0 ? (size_t)m->arena_bytes : 1;

    *a = (RtArena){.bytes = m->arena_bytes};
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return rt_error(m, "no memory for the arena of %.1f MiB: %s", (double)bytes / (1 << 20),
                        strerror(errno));
    // Huge pages reduce TLB misses; without support this does nothing.
    madvise(p, bytes, MADV_HUGEPAGE);
    a->base = p;
    return true;
}

void rt_arena_close(RtArena *a)
{
    if (a->base)
        munmap(a->base, a->bytes > 0 ? (size_t)a->bytes : 1);
    *a = (RtArena){0};
}
