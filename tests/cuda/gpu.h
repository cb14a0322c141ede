// CUDA's words on the CPU, so that g++ and clang compile the kernels of runtime/cuda and run them
// without a GPU. Whatever CUDA leaves undefined ends the process with one message that names the
// kernel, the block, the thread and the line: races in shared memory, barriers that not all threads
// reach, exchanges with missing lanes, addresses outside of shared memory, misaligned vectors.
//
// It is stricter than CUDA in three respects. Only __syncwarp and __syncthreads order accesses to
// shared memory, exchanges don't. Shared memory that the block hasn't written may not be read. All
// lanes of a mask must exist and be running.
//
// A kernel's file is compiled with this header included first. gpu.cc runs blocks.
#ifndef SHARDCC_TESTS_CUDA_GPU_H
#define SHARDCC_TESTS_CUDA_GPU_H

#include <climits>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace gpu
{

enum { WARP = 32, MAX_THREADS = 1024, MAX_SHARED = 48 << 10, MAX_ARGS = 256 };

struct Dim {
    unsigned x, y, z;
};

struct Site {
    const char *file;
    int line;
};
inline constexpr Site NOWHERE = {nullptr, 0};

// An access to memory: by which thread of the block, after how many barriers, over all blocks and
// launches, and after how many __syncwarp of its warp.
struct Visit {
    uint32_t epoch;
    uint16_t syncs, thread;
};

// The running thread's surroundings. `launch_epoch` and `block_epoch` are the barriers' number at
// the start of the launch and of the block. `warp_syncs` counts each warp's __syncwarp.
struct State {
    Dim thread, block, block_size, grid;
    int lane, warp;  // of the thread in its block
    Visit visit;     // an access now
    uint32_t launch_epoch, block_epoch;
    uint16_t warp_syncs[MAX_THREADS / WARP];
    unsigned char *room;  // dynamic shared memory
    size_t room_bytes;
};
extern State now;

// Ends the process with a message.
[[noreturn]] void fail(Site site, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- launches ----

// A kernel that can be launched by its name.
struct Entry {
    const char *name;
    void (*call)(void (*kernel)(), void **args);
    void (*kernel)();
    int n_args;
    size_t bytes[MAX_ARGS];  // of each argument
    Entry *next;             // in the list of all
    long launches;

    template <class... P> Entry(const char *text, void (*f)(P...));
};
Entry *find(const char *name);  // NULL: there is none
Entry *first_entry();

template <class F, class... P, size_t... I>
void call_with(F f, void **args, std::index_sequence<I...>)
{
    f(*static_cast<P *>(args[I])...);
}

void add(Entry *e);

template <class... P>
Entry::Entry(const char *text, void (*f)(P...))
    : name(text), kernel(reinterpret_cast<void (*)()>(f)),
      n_args(sizeof...(P)), bytes{sizeof(P)...}, launches(0)
{
    static_assert((0 + ... + sizeof(P)) <= 4096, "parameters of a kernel take at most 4 KiB");
    call = [](void (*k)(), void **args) {
        auto typed = reinterpret_cast<void (*)(P...)>(k);
        call_with<decltype(typed), P...>(typed, args, std::index_sequence_for<P...>());
    };
    add(this);
}

// The order in which blocks, and the threads of a block, run until they wait: rising, falling, or
// shuffled by that seed.
enum : unsigned { RISING, FALLING, SHUFFLED };

// Runs a kernel on all blocks. `args` point to the arguments.
void launch(Entry &e, Dim grid, Dim block, size_t shared, void **args, unsigned order);

bool is_running();  // inside of a kernel?
// From now on a segmentation fault of this thread of the system ends with a message too. `explain`
// says what an address means, or NULL.
void watch_faults(const char *(*explain)(const void *address));

// ---- waiting ----

void barrier(Site site);
// A lane's bytes for the others of its warp.
struct alignas(16) Gift {
    unsigned char bytes[64];
};
// All lanes of the mask give some bytes; returns what each has given, by its number, until the
// lane's next call.
const Gift *gather(unsigned mask, const void *bytes, size_t n, Site site);
// All lanes of the mask give a word; returns that of lane `source`.
uint64_t exchange(unsigned mask, uint64_t word, int source, Site site);
unsigned ballot(unsigned mask, bool is_set, Site site);
void sync_warp(unsigned mask, Site site);

template <class T> T shuffle(unsigned mask, T x, int source, Site site)
{
    static_assert((sizeof(T) == 4 || sizeof(T) == 8) && std::is_arithmetic_v<T>,
                  "CUDA exchanges words of 4 and 8 bytes");
    uint64_t word = 0;

    std::memcpy(&word, &x, sizeof x);
    word = exchange(mask, word, source < 0 || source >= WARP ? now.lane : source, site);
    std::memcpy(&x, &word, sizeof x);
    return x;
}

// ---- shared memory ----

// Does this access race with that one?
inline bool is_race(const Visit &v)
{
    return v.epoch == now.visit.epoch && v.thread != now.visit.thread &&
           (v.thread / WARP != now.warp || v.syncs == now.visit.syncs);
}

// One element, and who wrote and read it last. Two readers are kept, so that one of them is
// another thread than the next writer.
template <class T> struct Slot {
    T value;
    Visit written, read[2];

    T get(Site site)
    {
        if (written.epoch < now.block_epoch)
            fail(site, "shared memory is read before it is written");
        if (is_race(written))
            fail(site, "race: shared memory is read while thread %d writes it", written.thread);
        read[read[0].epoch == now.visit.epoch && read[0].thread != now.visit.thread] = now.visit;
        return value;
    }
    void set(T x, Site site)
    {
        for (const Visit &v : {written, read[0], read[1]})
            if (is_race(v))
                fail(site, "race: shared memory is written while thread %d %s it", v.thread,
                     &v == &written ? "writes" : "uses");
        written = now.visit;
        value = x;
    }
};

// An index that knows its line.
struct Index {
    int64_t i;
    Site site;

    template <std::integral I>
    Index(I at, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : i((int64_t)at), site{file, line}
    {
    }
};

inline void check_index(const Index &at, int64_t n)
{
    if (at.i < 0 || at.i >= n)
        fail(at.site, "index %lld is outside of shared memory of %lld elements", (long long)at.i,
             (long long)n);
}

template <class T> class Cell
{
    Slot<T> &slot;
    Site site;

  public:
    Cell(Slot<T> &s, Site where) : slot(s), site(where) {}
    Cell(const Cell &) = default;
    operator T() const { return slot.get(site); }
    const Cell &operator=(T x) const
    {
        slot.set(x, site);
        return *this;
    }
    const Cell &operator=(const Cell &x) const { return *this = (T)x; }
    const Cell &operator+=(T x) const { return *this = (T)(slot.get(site) + x); }
};

}  // namespace gpu

// An array in shared memory: Shared<float[32][33]> is watched as float[32][33].
template <class T> class Shared;
template <class T, size_t N>
requires std::is_array_v<T>
class Shared<T[N]>
{
    Shared<T> part[N];

  public:
    Shared<T> &operator[](gpu::Index at)
    {
        gpu::check_index(at, N);
        return part[at.i];
    }
};
template <class T, size_t N>
requires(!std::is_array_v<T>) class Shared<T[N]>
{
    gpu::Slot<T> slot[N];

  public:
    enum : int64_t { SIZE = N };
    gpu::Cell<T> operator[](gpu::Index at)
    {
        gpu::check_index(at, N);
        return {slot[at.i], at.site};
    }
    gpu::Slot<T> &slot_at(gpu::Index at)
    {
        gpu::check_index(at, N);
        return slot[at.i];
    }
};

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define RT_CALLED __attribute__((noinline, unused))
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define RT_ENTRY(name) static gpu::Entry gpu_entry_##name(#name, name)

inline constexpr const gpu::Dim &threadIdx = gpu::now.thread, &blockIdx = gpu::now.block,
                                &blockDim = gpu::now.block_size, &gridDim = gpu::now.grid;

#define GPU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
inline void __syncthreads(GPU_SITE) { gpu::barrier({file, line}); }
inline void __syncwarp(unsigned mask = 0xffffffffu, GPU_SITE)
{
    gpu::sync_warp(mask, {file, line});
}
inline unsigned __ballot_sync(unsigned mask, int is_set, GPU_SITE)
{
    return gpu::ballot(mask, is_set != 0, {file, line});
}
template <class T> T __shfl_sync(unsigned mask, T x, int source, GPU_SITE)
{
    return gpu::shuffle(mask, x, source & 31, {file, line});
}
template <class T> T __shfl_xor_sync(unsigned mask, T x, int lanes, GPU_SITE)
{
    return gpu::shuffle(mask, x, gpu::now.lane ^ lanes, {file, line});
}
template <class T> T __shfl_up_sync(unsigned mask, T x, unsigned by, GPU_SITE)
{
    return gpu::shuffle(mask, x, gpu::now.lane - (int)by, {file, line});
}
template <class T> T __shfl_down_sync(unsigned mask, T x, unsigned by, GPU_SITE)
{
    return gpu::shuffle(mask, x, gpu::now.lane + (int)by, {file, line});
}

// ---- vectors ----

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

// A vector of V, of the elements of `p` from `i` on, in global memory.
template <class V, class T> V rt_load(const T *p, int64_t i = 0, GPU_SITE)
{
    if (reinterpret_cast<uintptr_t>(p + i) % alignof(V))
        gpu::fail({file, line}, "misaligned: a load of %d bytes", (int)sizeof(V));
    return *reinterpret_cast<const V *>(p + i);
}
template <class V, class T> void rt_store(T *p, int64_t i, V v, GPU_SITE)
{
    if (reinterpret_cast<uintptr_t>(p + i) % alignof(V))
        gpu::fail({file, line}, "misaligned: a store of %d bytes", (int)sizeof(V));
    *reinterpret_cast<V *>(p + i) = v;
}

// Elements i to i + 3 of a row in shared memory.
template <size_t N> float4 rt_load4(Shared<float[N]> &row, int i, GPU_SITE)
{
    auto at = [&](int k) { return (float)row[gpu::Index(i + k, file, line)]; };

    if (i % 4 || N % 4)
        gpu::fail({file, line}, "misaligned: a load of 16 bytes from shared memory");
    return {at(0), at(1), at(2), at(3)};
}

// Dynamic shared memory as a row of T, from element `first` on.
namespace gpu
{
template <class T> class Room
{
    Slot<T> *slot;
    int64_t n;

  public:
    Room(void *bytes, int64_t size) : slot(static_cast<Slot<T> *>(bytes)), n(size) {}
    Cell<T> operator[](Index at)
    {
        check_index(at, n);
        return {slot[at.i], at.site};
    }
};
}  // namespace gpu
template <class T> gpu::Room<T> rt_room()
{
    return {gpu::now.room, (int64_t)(gpu::now.room_bytes / sizeof(T))};
}

#endif
