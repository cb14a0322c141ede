// Device and pinned memory of the double of CUDA's runtime.
#include "tests/cuda/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

#include "tests/cuda/gpu.h"

namespace cudart
{

namespace
{

enum : size_t { PAGE = 4096, ALIGNED = 256, POOL = (size_t)1 << 40 };
enum { KEPT = 64 };
enum { UNUSED = 0xff };  // bytes between an allocation's end and its last page's, and of new ones

struct Allocation {
    char *at, *map;
    size_t bytes, mapped;  // mapped: with a page of nobody on each side
    bool is_device, is_freed;
    Byte *watch;  // of the bytes, once a kernel has used them
};

std::vector<Allocation> all;  // those in use first
int opened;
char *pool, *unused;  // the address space of device memory, and its part that was never used

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// The allocation whose mapping has the address; NULL: none.
Allocation *holder(const void *p)
{
    for (auto &a : all)
        if (p >= a.map && p < a.map + a.mapped)
            return &a;
    return nullptr;
}

void protect(const Allocation &a)
{
    bool is_open = !a.is_freed && (!a.is_device || opened > 0);

    if (mprotect(a.map + PAGE, a.mapped - 2 * PAGE, is_open ? PROT_READ | PROT_WRITE : PROT_NONE))
        abort();
}

void protect_device()
{
    for (const auto &a : all)
        if (a.is_device && !a.is_freed)
            protect(a);
}

const char *explain(const void *p)
{
    const Allocation *a = holder(p);
    static char text[160];

    if (!a)
        return nullptr;
    if (a->is_freed)
        return "memory is used after its free";
    bool is_inside = p >= a->at && p < a->at + a->bytes;
    if (is_inside && a->is_device)
        return "host code touches device memory";
    snprintf(text, sizeof text, "outside of an allocation of %zu bytes, at byte %td", a->bytes,
             static_cast<const char *>(p) - a->at);
    return text;
}

// Has anything been written between an allocation's end and its page's?
void check_end(const Allocation &a)
{
    const char *end = a.map + a.mapped - PAGE;

    for (const char *p = a.at + a.bytes; p < end; p++)
        if (*p != (char)UNUSED)
            gpu::fail(gpu::NOWHERE, "byte %td of an allocation of %zu bytes was written", p - a.at,
                      a.bytes);
}

void *reserve_anywhere(size_t bytes)
{
    void *p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? nullptr : p;
}

// Address space of nobody; the device's is contiguous, and never used twice.
void *reserve(size_t bytes, bool is_device)
{
    if (!is_device)
        return reserve_anywhere(bytes);
    if (!pool)
        pool = unused = static_cast<char *>(reserve_anywhere(POOL));
    if (!pool || bytes > (size_t)(pool + POOL - unused))
        return nullptr;
    unused += bytes;
    return unused - bytes;
}

// Keeps the last KEPT allocations that were freed, after those in use.
void forget_freed()
{
    std::stable_partition(all.begin(), all.end(), [](auto &a) { return !a.is_freed; });
    while (std::count_if(all.begin(), all.end(), [](auto &a) { return a.is_freed; }) > KEPT) {
        if (!all.back().is_device)
            munmap(all.back().map, all.back().mapped);
        all.pop_back();
    }
}

}  // namespace

Open::Open()
{
    if (opened++ == 0)
        protect_device();
}

Open::~Open()
{
    for (const auto &a : all)
        if (a.is_device && !a.is_freed)
            check_end(a);
    if (--opened == 0)
        protect_device();
}

void *allocate(size_t bytes, bool is_device)
{
    size_t room = round_up(std::max(bytes, (size_t)1), ALIGNED), pages = round_up(room, PAGE);
    void *map = reserve(pages + 2 * PAGE, is_device);

    if (!map)
        return nullptr;
    gpu::watch_faults(explain);  // each time, as others take the signal too
    char *first = static_cast<char *>(map) + PAGE;
    if (mprotect(first, pages, PROT_READ | PROT_WRITE))
        abort();
    memset(first, UNUSED, pages);
    all.insert(all.begin(), {first + pages - room, static_cast<char *>(map), bytes,
                             pages + 2 * PAGE, is_device, false, nullptr});
    protect(all.front());
    return all.front().at;
}

bool give_back(void *p, bool is_device)
{
    Allocation *a = holder(p);

    if (!a || a->at != p || a->is_freed || a->is_device != is_device)
        return false;
    free(a->watch);
    a->watch = nullptr;
    a->is_freed = true;
    madvise(a->map + PAGE, a->mapped - 2 * PAGE, MADV_DONTNEED);
    protect(*a);
    forget_freed();
    return true;
}

size_t device_bytes()
{
    size_t n = 0;

    for (const auto &a : all)
        n += a.is_device && !a.is_freed ? a.bytes : 0;
    return n;
}

int allocations()
{
    return (int)std::count_if(all.begin(), all.end(), [](auto &a) { return !a.is_freed; });
}

// Kernels access much memory that isn't the device's, and few allocations in turn.
Byte *watched(const void *p, size_t n, bool writes)
{
    const char *at = static_cast<const char *>(p);

    if (at < pool || at >= pool + POOL)
        return nullptr;
    for (auto &a : all) {
        if (at < a.map || at >= a.map + a.mapped)
            continue;
        if (a.is_freed || at < a.at || at + n > a.at + a.bytes)
            gpu::fail(gpu::NOWHERE, "%s %zu bytes at byte %td of an allocation of %zu bytes",
                      writes ? "writes" : "reads", n, at - a.at, a.bytes);
        if (!a.watch)
            a.watch = static_cast<Byte *>(calloc(a.bytes, sizeof *a.watch));
        return a.watch + (at - a.at);
    }
    return nullptr;
}

Kind kind_of(const void *p)
{
    const Allocation *a = holder(p);

    return !a ? PAGEABLE : a->is_device ? DEVICE : PINNED;
}

void check_range(const char *what, const void *p, size_t bytes)
{
    const Allocation *a = holder(p);
    const char *at = static_cast<const char *>(p);

    if (!a)
        return;
    if (a->is_freed)
        gpu::fail(gpu::NOWHERE, "%s: memory is used after its free", what);
    if (at < a->at || at + bytes > a->at + a->bytes)
        gpu::fail(gpu::NOWHERE, "%s: bytes %td to %td of an allocation of %zu bytes", what,
                  at - a->at, at - a->at + (ptrdiff_t)bytes, a->bytes);
}

void check_copy(const void *to, const void *from, size_t bytes)
{
    const char *y = static_cast<const char *>(to), *x = static_cast<const char *>(from);

    check_range("a copy's destination", to, bytes);
    check_range("a copy's source", from, bytes);
    if (bytes && y < x + bytes && x < y + bytes)
        gpu::fail(gpu::NOWHERE, "a copy's source and destination overlap");
}

}  // namespace cudart
