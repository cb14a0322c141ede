// Watches what kernels do in device memory. Kernels' files are compiled with the compiler's
// -fsanitize=thread, which calls a function at each access; the functions are these, and not those
// of the thread sanitizer's library. They know which thread wrote and read each byte, and end the
// process where an access is outside of its allocation, or where the order of two threads of a
// launch changes what is read. Only __syncthreads orders threads of a block, and nothing orders
// blocks.
#include "tests/cuda/gpu.h"
#include "tests/cuda/memory.h"

namespace
{

const gpu::Site NOWHERE = {nullptr, 0};

bool is_race(const cudart::Access &a)
{
    bool is_of_launch = a.epoch >= gpu::now.launch_epoch;
    bool is_of_block = a.epoch >= gpu::now.block_epoch;

    return is_of_launch &&
           (!is_of_block || (a.epoch == gpu::now.visit.epoch && a.thread != gpu::now.visit.thread));
}

[[noreturn]] void fail_race(const cudart::Access &a, const char *mine, const char *other)
{
    bool is_of_block = a.epoch >= gpu::now.block_epoch;

    gpu::fail(NOWHERE, "race: device memory is %s while thread %d of %s block %s it", mine,
              a.thread, is_of_block ? "this" : "another", other);
}

void read_byte(cudart::Byte &b)
{
    if (is_race(b.written))
        fail_race(b.written, "read", "writes");
    bool is_taken =
        b.read[0].epoch >= gpu::now.launch_epoch &&
        (b.read[0].epoch < gpu::now.block_epoch || b.read[0].thread != gpu::now.visit.thread);
    b.read[is_taken] = {gpu::now.visit.epoch, gpu::now.visit.thread};
}

void write_byte(cudart::Byte &b)
{
    if (is_race(b.written))
        fail_race(b.written, "written", "writes");
    for (const auto &r : b.read)
        if (is_race(r))
            fail_race(r, "written", "reads");
    b.written = {gpu::now.visit.epoch, gpu::now.visit.thread};
}

void access(const void *p, size_t n, bool writes)
{
    cudart::Byte *byte = gpu::is_running() ? cudart::watched(p, n, writes) : nullptr;

    for (size_t i = 0; byte && i < n; i++)
        writes ? write_byte(byte[i]) : read_byte(byte[i]);
}

}  // namespace

#define WATCH(name, n)                                                                             \
    extern "C" void __tsan_read##name(void *p) { access(p, n, false); }                            \
    extern "C" void __tsan_write##name(void *p) { access(p, n, true); }
WATCH(1, 1)
WATCH(2, 2)
WATCH(4, 4)
WATCH(8, 8)
WATCH(16, 16)

#define WATCH_UNALIGNED(n)                                                                         \
    extern "C" void __tsan_unaligned_read##n(void *p) { access(p, n, false); }                     \
    extern "C" void __tsan_unaligned_write##n(void *p) { access(p, n, true); }
WATCH_UNALIGNED(2)
WATCH_UNALIGNED(4)
WATCH_UNALIGNED(8)
WATCH_UNALIGNED(16)

extern "C" void __tsan_read_range(void *p, size_t n) { access(p, n, false); }
extern "C" void __tsan_write_range(void *p, size_t n) { access(p, n, true); }
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit(void) {}
extern "C" void __tsan_init(void) {}
extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" void __tsan_vptr_read(void **) {}
extern "C" void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    access(from, n, false);
    access(to, n, true);
    return memcpy(to, from, n);
}
extern "C" void *__tsan_memset(void *to, int byte, size_t n)
{
    access(to, n, true);
    return memset(to, byte, n);
}
