// Runs several ranks of a hand-written program: processes that exchange messages through shared
// memory.
#ifndef SHARDCC_TESTS_RANKS_H
#define SHARDCC_TESTS_RANKS_H

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/comm/comm.h"
#include "runtime/comm/transport.h"
#include "runtime/exchange/message_collectives.h"
#include "tests/runtime/small.h"

enum { MAX_RANKS = 8, BOX = 16, BOX_BYTES = 4096, SUM = 64 };

// Messages from one rank to another. `sent` and `taken` count them; message k lies in slot k %
// BOX.
typedef struct Box {
    atomic_int sent, taken;
    char message[BOX][BOX_BYTES];
} Box;

typedef struct Shared {
    Box box[MAX_RANKS][MAX_RANKS];
    RtSharedWindow window[MAX_RANKS];
    float part[MAX_RANKS][SUM];
} Shared;

static Shared *shared;
static int fileless = -1;  // a rank that can open no files

// The receive that a process waits for; there is one at a time.
typedef struct Waiting {
    int from;
    void *data;
    int64_t bytes;
} Waiting;

static bool shared_open(RtComm *c)
{
    c->rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    c->ranks = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
    if (c->rank == fileless)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 256});
    c->state = calloc(1, sizeof(Waiting));
    c->window = calloc((size_t)c->ranks, sizeof *c->window);
    for (int r = 0; r < c->ranks; r++)
        c->window[r] = &shared->window[r];
    return true;
}

static void shared_close(RtComm *c)
{
    if (c->rank == fileless)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 256});  // sanitizers open files at exit
    free(c->state);
    free(c->window);
}

static int shared_send(RtComm *c, int to, const void *data, int64_t bytes)
{
    Box *b = &shared->box[c->rank][to];

    while (b->sent - b->taken == BOX)
        sched_yield();
    assert_true(bytes <= BOX_BYTES);
    memcpy(b->message[b->sent % BOX], data, (size_t)bytes);
    b->sent++;
    return 0;
}

static int shared_receive(RtComm *c, int from, void *data, int64_t bytes)
{
    *(Waiting *)c->state = (Waiting){from, data, bytes};
    return 1;
}

static int shared_test(RtComm *c, int message)
{
    Waiting *w = c->state;
    Box *b = &shared->box[w->from][c->rank];

    if (message == 0)
        return 1;
    if (b->sent == b->taken)
        return 0;
    memcpy(w->data, b->message[b->taken % BOX], (size_t)w->bytes);
    b->taken++;
    return 1;
}

static void shared_warn(RtComm *c, const RtWarning *w) {}
static int shared_warned(RtComm *c, RtWarning *w) { return -1; }
static void shared_end(RtComm *c) { exit(1); }

static const RtTransport shared_memory = {
    .name = "mpi",  // its launchers' variables
    .launcher = "mpirun",
    .starting = "the start",
    .ending = "the end",
    .open = shared_open,
    .close = shared_close,
    .send = shared_send,
    .receive = shared_receive,
    .test = shared_test,
    .warn = shared_warn,
    .warned = shared_warned,
    .end = shared_end,
    .collectives = &rt_message_collectives,
};

// Adds up x over all ranks, in the order of ranks.
static inline void sum_over_ranks(Rt *rt, float *x, int n)
{
    int ranks = rt_comm_ranks(rt->comm);

    assert_true(n <= SUM);
    memcpy(shared->part[rt_comm_rank(rt->comm)], x, (size_t)n * sizeof *x);
    rt_comm_max(rt->comm, 0);
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int r = 0; r < ranks; r++)
            x[i] += shared->part[r][i];
    }
    rt_comm_max(rt->comm, 0);
}

// The output of each rank, and how it ended.
typedef struct Ranks {
    Said said[MAX_RANKS];
} Ranks;

// Starts all ranks of a program with the transport `shared_memory`.
static inline void run_ranks(Ranks *x, const RtModel *m, const char *args)
{
    int n = rt_mesh_ranks(&m->mesh);
    pid_t pid[MAX_RANKS];
    char text[64];

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    snprintf(text, sizeof text, "%d", n);
    setenv("OMPI_COMM_WORLD_SIZE", text, 1);
    for (int r = 0; r < n; r++) {
        snprintf(text, sizeof text, "%d", r);
        setenv("OMPI_COMM_WORLD_RANK", text, 1);
        snprintf(text, sizeof text, "rank%d", r);
        mkdir(text, 0777);
        pid[r] = start_trainer_in(text, m, args);
    }
    for (int r = 0; r < n; r++) {
        snprintf(text, sizeof text, "rank%d", r);
        x->said[r] = end_trainer_in(text, pid[r]);
    }
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("OMPI_COMM_WORLD_RANK");
    munmap(shared, sizeof *shared);
}

#endif
