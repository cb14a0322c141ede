// The memory that processes share for NCCL's double, and communicators in it. tests/cuda/nccl.cc
// has the calls.
#ifndef SHARDCC_TESTS_NCCL_JOB_H
#define SHARDCC_TESTS_NCCL_JOB_H

#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cuda/nccl.h"
#include "tests/cuda/cudart_internal.h"

namespace nccl
{

enum { RANKS = 16, COMMS = 64, SPLITS = 64 };
enum : size_t { CHUNK = 256 << 10, MAIL = 16 << 10, TAKEN = 1 << 20 };

template <class... T> [[noreturn]] void fail(const char *format, T... x)
{
    gpu::fail(gpu::NOWHERE, format, x...);
}

// ---- the memory of a job ----

// A collective, as each rank says it.
struct Said {
    char call[24];
    size_t count;
    int type, op;
};

// Bytes between two ranks: those of a chunk, once `written` is larger.
struct Mail {
    std::atomic<uint64_t> written, read;
    size_t total;  // of the whole message
    unsigned char bytes[MAIL];
};

// The memory of a communicator.
struct Group {
    std::atomic<int> joined, ended;
    std::atomic<uint64_t> arrivals;
    Said said[RANKS];
    struct {
        std::atomic<int> posted;
        int color[RANKS], key[RANKS];
    } split[SPLITS];
    Mail mail[RANKS][RANKS];
    unsigned char data[RANKS][CHUNK];
};

struct Job {
    std::atomic<int> groups;  // in use
    std::atomic<int> lock;
    struct {
        int parent, split, color;
    } origin[COMMS];
    Group group[COMMS];
};

inline Job *job_of(int pid, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return nullptr;
    void *p =
        mmap(nullptr, sizeof(Job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    return p == MAP_FAILED ? nullptr : static_cast<Job *>(p);
}

// The number of the group that a split makes for a color: the first rank that asks takes a new one.
inline int group_of_split(Job *job, int parent, int split, int color)
{
    int found = 0;

    while (job->lock.exchange(1))
        sched_yield();
    int n = job->groups;
    for (int i = 1; i < n; i++)
        if (job->origin[i].parent == parent && job->origin[i].split == split &&
            job->origin[i].color == color)
            found = i;
    if (!found) {
        if (n == COMMS)
            fail("ncclCommSplit: more than %d communicators", COMMS);
        job->origin[n] = {parent, split, color};
        job->groups = n + 1;
        found = n;
    }
    job->lock = 0;
    return found;
}

}  // namespace nccl

// ---- communicators ----

struct RtNcclComm {
    nccl::Job *job;
    int number;  // of its group
    int rank, ranks;
    enum { JOINS, SPLITS_OFF, READY, ENDS } state;
    int splits;         // that it has begun
    RtNcclComm *child;  // the one that is being split off
    int color;
    uint64_t barriers;
    void *taken;  // memory of the device
    bool has_called;
    long calls;  // that it has carried out

    nccl::Group &group() const { return job->group[number]; }
};

namespace nccl
{

inline RtNcclComm *comm_new(Job *job, int number)
{
    auto *c = cudart::made(new RtNcclComm{});

    c->job = job;
    c->number = number;
    if (cudaMalloc(&c->taken, TAKEN))
        fail("NCCL: no memory of the device");
    return c;
}

inline void join(RtNcclComm *c)
{
    c->state = RtNcclComm::JOINS;
    c->group().joined++;
}

// All ranks have said their colors: finds the child's ranks.
inline void finish_split(RtNcclComm *c)
{
    auto &split = c->group().split[(c->splits - 1) % SPLITS];
    RtNcclComm *child = c->child;

    child->rank = child->ranks = 0;
    for (int r = 0; r < c->ranks; r++) {
        if (split.color[r] != c->color)
            continue;
        child->ranks++;
        child->rank += split.key[r] < split.key[c->rank];
    }
    join(child);
    c->child = nullptr;
    c->state = RtNcclComm::READY;
}

// Has the communicator come to rest? Never waits.
inline bool is_ready(RtNcclComm *c)
{
    Group &g = c->group();

    if (c->state == RtNcclComm::JOINS && g.joined == c->ranks)
        c->state = RtNcclComm::READY;
    if (c->state == RtNcclComm::SPLITS_OFF && g.split[(c->splits - 1) % SPLITS].posted == c->ranks)
        finish_split(c);
    if (c->state == RtNcclComm::ENDS)
        return g.ended == c->ranks;
    return c->state == RtNcclComm::READY;
}

// Between two looks at other ranks: there may be more of them than cores.
inline void between_looks(int looks)
{
    if (looks < 200)
        sched_yield();
    else
        usleep(50);
}

inline void barrier(RtNcclComm *c)
{
    c->group().arrivals++;
    c->barriers++;
    for (int looks = 0; c->group().arrivals < c->barriers * (uint64_t)c->ranks; looks++)
        between_looks(looks);
}

}  // namespace nccl

#endif
