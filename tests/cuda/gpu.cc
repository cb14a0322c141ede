// Runs blocks of threads for gpu.h. The threads of a block are fibers, with stacks of their own,
// and take turns only where they wait for each other. A fiber whose thread has ended takes the next
// one, so that threads that never wait need one stack.
#include "tests/cuda/gpu.h"

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#ifdef __has_feature
#define GPU_HAS_ASAN __has_feature(address_sanitizer)
#elif defined __SANITIZE_ADDRESS__
#define GPU_HAS_ASAN 1
#else
#define GPU_HAS_ASAN 0
#endif
#if GPU_HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace gpu
{

State now = {.visit = {.epoch = 1}};

namespace
{

enum { PAGE = 4096, STACK = GPU_HAS_ASAN ? 512 << 10 : 64 << 10 };

// Where threads wait for each other. A generation ends when all have come.
struct Gate {
    unsigned mask;  // of the lanes; 0: the block's barrier
    int expected, arrived;
    uint64_t generation;
    Site site;
    Gift given[2][WARP];  // by the lanes, for generations that are even and odd
};

struct Fiber {
    void *sp;
    const void *stack;
    size_t size;
    void *fake;  // of the address sanitizer
};

struct Thread {
    Dim index;
    int number;
    bool is_done;
    Fiber *fiber;
    Gate *gate;  // it waits there for the end of this generation; NULL: it doesn't wait
    uint64_t generation;
    Site site;
};

struct Block {
    int n, done, next, order[MAX_THREADS];
    Gate barrier;
    std::vector<std::unique_ptr<Gate>> gates[MAX_THREADS / WARP];  // of each warp, by mask
    Thread thread[MAX_THREADS], *self;
    Entry *entry;
    void **args;
    Fiber scheduler, *fiber, *previous;  // the one that runs, and the one before
    std::vector<Fiber *> idle;
};

Block b;
bool runs;
char *stacks;
Fiber fibers[MAX_THREADS];
int n_fibers;

}  // namespace

#ifndef __x86_64__
#error "fibers are switched by x86-64's instructions"
#endif
// Saves the registers that a call keeps and the stack pointer in *from, and continues at `to`. It
// jumps there, because processors expect a return to go back to its call.
extern "C" void gpu_switch(void **from, void *to);
asm(".text\n"
    ".globl gpu_switch\n"
    ".type gpu_switch, @function\n"
    "gpu_switch:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp, (%rdi)\n"
    " mov %rsi, %rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n"
    " pop %rcx\n jmp *%rcx\n");

namespace
{

// Comes first where a fiber continues.
void arrive(Fiber *f)
{
#if GPU_HAS_ASAN
    const void *stack;
    size_t size;

    __sanitizer_finish_switch_fiber(f->fake, &stack, &size);
    if (b.previous == &b.scheduler) {
        b.scheduler.stack = stack;
        b.scheduler.size = size;
    }
#endif
    (void)f;
}

void switch_to(Fiber *to)
{
    Fiber *from = b.fiber;

#if GPU_HAS_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->size);
#endif
    b.previous = from;
    b.fiber = to;
    gpu_switch(&from->sp, to->sp);
    arrive(from);
}

void become(Thread *t)
{
    b.self = t;
    now.thread = t->index;
    now.lane = t->number % WARP;
    now.warp = t->number / WARP;
    now.visit.syncs = now.warp_syncs[now.warp];
    now.visit.thread = (uint16_t)t->number;
}

// Runs threads to their ends.
void fiber_main()
{
    arrive(b.fiber);
    for (;;) {
        Thread *t = b.self;
        Fiber *f = b.fiber;

        t->fiber = f;
        b.entry->call(b.entry->kernel, b.args);
        t->is_done = true;
        b.done++;
        if (b.next < b.n) {
            become(&b.thread[b.order[b.next++]]);
        } else {
            b.idle.push_back(f);
            switch_to(&b.scheduler);
        }
    }
}

// A new fiber. A page that nobody may touch lies below each stack.
Fiber *new_fiber()
{
    if (!stacks) {
        void *p = mmap(nullptr, (size_t)MAX_THREADS * STACK, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            abort();
        stacks = static_cast<char *>(p);
    }
    char *low = stacks + (size_t)n_fibers * STACK + PAGE;
    if (mprotect(low, STACK - PAGE, PROT_READ | PROT_WRITE))
        abort();
    // gpu_switch pops six registers and jumps to fiber_main, whose return address is 0.
    // Stacks begin in different lines of the cache.
    void **top = reinterpret_cast<void **>(low + STACK - PAGE - n_fibers % 32 * 192) - 2;
    *top = reinterpret_cast<void *>(fiber_main);
    fibers[n_fibers] = {top - 6, low, STACK - PAGE, nullptr};
    return &fibers[n_fibers++];
}

// Runs a thread that hasn't begun.
void begin(Thread *t)
{
    if (b.idle.empty())
        b.idle.push_back(new_fiber());
    Fiber *f = b.idle.back();
    b.idle.pop_back();
    become(t);
    switch_to(f);
}

bool is_same(const Site &x, const Site &y)
{
    return x.line == y.line && (x.file == y.file || strcmp(x.file, y.file) == 0);
}

// Waits until all have come to the gate. `orders`: accesses to shared memory before and after it
// are ordered.
void meet(Gate &g, bool orders, Site site)
{
    Thread *t = b.self;

    if (g.arrived && !is_same(g.site, site))
        fail(site, "%s meet at different lines: others at %s:%d", g.mask ? "lanes" : "threads",
             g.site.file, g.site.line);
    g.site = site;
    if (++g.arrived == g.expected) {
        g.arrived = 0;
        g.generation++;
        if (orders && g.mask)
            now.visit.syncs = ++now.warp_syncs[now.warp];
        else if (orders)
            now.visit.epoch++;
        return;
    }
    t->gate = &g;
    t->generation = g.generation;
    t->site = site;
    switch_to(&b.scheduler);
}

void check_lane(unsigned mask, Site site)
{
    if (!(mask >> now.lane & 1))
        fail(site, "the lane isn't in its mask %08x", mask);
}

Gate &gate_of(unsigned mask, Site site)
{
    check_lane(mask, site);
    for (auto &g : b.gates[now.warp])
        if (g->mask == mask)
            return *g;
    b.gates[now.warp].push_back(
        std::make_unique<Gate>(Gate{.mask = mask, .expected = __builtin_popcount(mask)}));
    return *b.gates[now.warp].back();
}

// No thread can go on: says why one of them waits in vain.
[[noreturn]] void fail_stuck(Thread *stuck)
{
    Gate *g = stuck->gate;
    int first = g->mask ? stuck->number / WARP * WARP : 0, last = g->mask ? first + WARP : b.n;

    become(stuck);
    for (int i = first; i < last; i++) {
        const Thread &t = b.thread[i];

        if ((g->mask && !(g->mask >> (i - first) & 1)) || (i < b.n && t.gate == g))
            continue;
        if (i >= b.n)
            fail(stuck->site, "lane %d of the mask %08x doesn't exist", i - first, g->mask);
        if (t.is_done)
            fail(stuck->site, "thread %d has ended without coming here", i);
        fail(stuck->site, "thread %d waits at %s:%d instead", i, t.site.file, t.site.line);
    }
    abort();
}

// Lets a thread go on if what it waited for has come. Returns whether it had.
bool go_on(Thread &t)
{
    if (t.is_done || t.gate->generation == t.generation)
        return false;
    t.gate = nullptr;
    become(&t);
    switch_to(t.fiber);
    return true;
}

// Lets threads go on, in their order, until all have ended. Neighbours in this order, of one warp
// if it isn't shuffled, run as far as they can before the next ones, whose stacks then are in the
// cache.
void run_waiting()
{
    while (b.done < b.n) {
        bool has_moved = false;

        for (int first = 0; first < b.n; first += WARP) {
            int last = std::min(first + WARP, b.n);
            for (bool moves = true; moves; has_moved |= moves) {
                moves = false;
                for (int i = first; i < last; i++)
                    moves |= go_on(b.thread[b.order[i]]);
            }
        }
        if (has_moved)
            continue;
        for (int i = b.n - 1; i >= 0; i--)
            if (!b.thread[b.order[i]].is_done)
                fail_stuck(&b.thread[b.order[i]]);
    }
}

void run_block(unsigned order, uint64_t number)
{
    now.block_epoch = ++now.visit.epoch;
    b.done = b.next = 0;
    b.barrier = {.expected = b.n};
    for (int i = 0; i < b.n; i++) {
        unsigned k = (unsigned)i;
        const Dim &d = now.block_size;
        b.thread[i] = {.index = {k % d.x, k / d.x % d.y, k / d.x / d.y}, .number = i};
        b.order[i] = order == FALLING ? b.n - 1 - i : i;
    }
    for (int w = 0; w * WARP < b.n; w++)
        b.gates[w].clear();
    if (order >= SHUFFLED)
        std::shuffle(b.order, b.order + b.n, std::minstd_rand(order + (unsigned)number));
    while (b.next < b.n)
        begin(&b.thread[b.order[b.next++]]);
    run_waiting();
}

void check_launch(const Dim &grid, const Dim &block, size_t shared)
{
    const Site here = {b.entry->name, 0};
    uint64_t threads = (uint64_t)block.x * block.y * block.z;

    if (threads == 0 || threads > MAX_THREADS || block.z > 64)
        fail(here, "a block of %u x %u x %u threads: 1 to %d are possible", block.x, block.y,
             block.z, MAX_THREADS);
    if (!grid.x || !grid.y || !grid.z || grid.x > INT_MAX || grid.y > 65535 || grid.z > 65535)
        fail(here, "a grid of %u x %u x %u blocks", grid.x, grid.y, grid.z);
    if (shared > MAX_SHARED)
        fail(here, "dynamic shared memory of %zu bytes: %d are possible", shared, MAX_SHARED);
}

Entry *entries;

}  // namespace

void fail(Site site, const char *format, ...)
{
    va_list args;

    fflush(nullptr);
    fprintf(stderr, "gpu: %s", b.entry ? b.entry->name : "no kernel");
    if (runs)
        fprintf(stderr, ", block (%u, %u, %u), thread (%u, %u, %u)", now.block.x, now.block.y,
                now.block.z, now.thread.x, now.thread.y, now.thread.z);
    if (site.line)
        fprintf(stderr, ", %s:%d", site.file, site.line);
    fputs(": ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(stderr);
    _exit(1);
}

void add(Entry *e)
{
    if (find(e->name)) {
        fprintf(stderr, "gpu: two kernels are called %s\n", e->name);
        abort();
    }
    e->next = entries;
    entries = e;
}

Entry *first_entry() { return entries; }

Entry *find(const char *name)
{
    Entry *e = entries;

    while (e && strcmp(e->name, name))
        e = e->next;
    return e;
}

bool is_running() { return runs; }

static bool is_below_stack(const void *address)
{
    ptrdiff_t at = static_cast<const char *>(address) - stacks;

    return stacks && at >= 0 && at < (ptrdiff_t)MAX_THREADS * STACK && at % STACK < PAGE;
}

static const char *(*explain_address)(const void *address);

static void on_fault(int, siginfo_t *info, void *)
{
    const char *what = explain_address ? explain_address(info->si_addr) : nullptr;

    if (is_below_stack(info->si_addr))
        what = "the thread's stack is too small";
    fail({nullptr, 0}, "%s (address %p)", what ? what : "a segmentation fault", info->si_addr);
}

void watch_faults(const char *(*explain)(const void *address))
{
    static char stack[64 << 10];
    const stack_t other = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
    struct sigaction action = {};

    explain_address = explain;
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (sigaltstack(&other, nullptr) || sigaction(SIGSEGV, &action, nullptr))
        abort();
}

void barrier(Site site)
{
    if (b.done)
        fail(site, "a barrier that %d of %d threads don't reach: they have ended", b.done, b.n);
    meet(b.barrier, true, site);
}

const Gift *gather(unsigned mask, const void *bytes, size_t n, Site site)
{
    Gate &g = gate_of(mask, site);
    Gift *all = g.given[g.generation % 2];

    memcpy(all[now.lane].bytes, bytes, n);
    meet(g, false, site);
    return all;
}

uint64_t exchange(unsigned mask, uint64_t word, int source, Site site)
{
    check_lane(mask, site);
    if (!(mask >> source & 1))
        fail(site, "lane %d is read, which isn't in the mask %08x", source, mask);
    memcpy(&word, gather(mask, &word, sizeof word, site)[source].bytes, sizeof word);
    return word;
}

unsigned ballot(unsigned mask, bool is_set, Site site)
{
    const unsigned char set = is_set;
    const Gift *all = gather(mask, &set, sizeof set, site);
    unsigned bits = 0;

    for (int i = 0; i < WARP; i++)
        bits |= mask >> i & 1 && all[i].bytes[0] ? 1u << i : 0;
    return bits;
}

void sync_warp(unsigned mask, Site site) { meet(gate_of(mask, site), true, site); }

void launch(Entry &e, Dim grid, Dim block, size_t shared, void **args, unsigned order)
{
    static Slot<double> room[MAX_SHARED / sizeof(float)];
    uint64_t n = (uint64_t)grid.x * grid.y * grid.z;

    b.entry = &e;
    check_launch(grid, block, shared);
    e.launches++;
    b.args = args;
    b.n = (int)(block.x * block.y * block.z);
    b.fiber = &b.scheduler;
    now.grid = grid;
    now.block_size = block;
    now.room = reinterpret_cast<unsigned char *>(room);
    now.room_bytes = shared;
    memset(static_cast<void *>(room), 0, shared ? sizeof room : 0);
    std::vector<uint64_t> blocks(order >= SHUFFLED ? n : 0);
    for (uint64_t i = 0; i < blocks.size(); i++)
        blocks[i] = i;
    std::shuffle(blocks.begin(), blocks.end(), std::minstd_rand(order));
    now.launch_epoch = ++now.visit.epoch;
    runs = true;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t k = order == RISING ? i : order == FALLING ? n - 1 - i : blocks[i];

        now.block = {(unsigned)(k % grid.x), (unsigned)(k / grid.x % grid.y),
                     (unsigned)(k / grid.x / grid.y)};
        run_block(order, k);
    }
    runs = false;
    b.entry = nullptr;
}

}  // namespace gpu
