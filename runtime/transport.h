// How messages and shared memory get from rank to rank, and what the collectives are made of. Of
// what a library of messages can do this is all that is used: messages between two ranks, and
// memory that the ranks of a host share. What order sums have is therefore ours alone.
#ifndef SHARDCC_RT_TRANSPORT_H
#define SHARDCC_RT_TRANSPORT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "runtime/comm.h"

// Messages between two ranks arrive in the order in which they were sent, those of each lane for
// themselves. Buffers stay as they are until `test` says that a message has gone.
enum { RT_MAX_MESSAGE_BYTES = 1 << 30 };  // of one message
struct RtTransport {
    // Sets rank, ranks and window. False after a message.
    bool (*open)(RtComm *c);
    void (*close)(RtComm *c);
    // The number of a message on its way.
    int (*send)(RtComm *c, int to, const void *data, int64_t bytes);
    int (*receive)(RtComm *c, int from, void *data, int64_t bytes);
    // 1: it has gone or come, and its number is free; 0: not yet; -1: the link broke.
    int (*test)(RtComm *c, int message);
    // Tells all others that this rank gives up waiting for rank `peer`.
    void (*warn)(RtComm *c, int peer);
    // A rank that said so and wasn't given yet, and whom it waits for; -1: none.
    int (*warned)(RtComm *c, int *peer);
    // Ends the job.
    void (*end)(RtComm *c);
};

// A process: its id, and where that counts, as of a container. 0: that isn't known.
typedef struct RtProcess {
    pid_t id;
    int64_t pid_namespace;
} RtProcess;
RtProcess rt_process(void);  // this one

// A rank's board, which the others of its host read: how often the rank has come to meetings along
// each axis, who it is, and two halves of bytes, used in turn.
enum { RT_WINDOW_BUFFER_BYTES = 1 << 19 };
typedef struct RtSharedWindow {
    struct {
        _Alignas(64) atomic_uint_least64_t arrivals;
    } axis[RT_MAX_AXES];
    RtProcess process;
    _Alignas(64) char buffer[2][RT_WINDOW_BUFFER_BYTES];
} RtSharedWindow;

// Ranks in a row with `stride` ranks between: number i of them is rank + (i - me) · stride.
typedef struct RtGroup {
    int axis, n, me, stride;
} RtGroup;

// The use of this host's boards: of one call at a time.
typedef struct RtWindowState {
    RtGroup readers;  // who may still be reading this rank's board
    int buffer;       // to be written next
} RtWindowState;

// A message on its way, and to or from whom.
typedef struct RtPending {
    int message, peer;
} RtPending;

struct RtComm {
    const RtTransport *transport;
    void *state;  // the transport's
    const RtModel *model;
    double timeout;
    int rank, ranks;
    RtSharedWindow **window;  // by rank; NULL: on another host
    // The ranks along an axis: those of one host, which meet at their boards, and of these groups
    // the ones in the same place, which send messages. A group of one has nothing to do.
    RtGroup intra_host[RT_MAX_AXES], inter_host[RT_MAX_AXES];
    RtWindowState *window_state;
    const char *at;           // what RT_AT said last; NULL
    const char *kind, *axis;  // the call under way
    int *waited_for;          // by rank: whom it gave up waiting for; -1: it didn't
    RtPending *pending;       // RT_MAX_PENDING
    char **source;            // by rank: what is combined
    int64_t bytes[RT_N_EXCHANGES][RT_MAX_AXES];
    // Two threads may talk to other ranks, the rank's own and its courier (comm_thread.c), which
    // has an RtComm of its own. `lock` is for the transport and `waits`.
    RtWatchdog *watchdog;
    struct RtCommThread *comm_thread;  // NULL: there is none, or this is its RtComm
    int tag;                           // the courier's is 1
    const atomic_bool *is_awaited;  // the courier's: does the rank's thread wait for it? Else NULL
    pthread_mutex_t *lock;
};

// On their way at once in a lane; see rt_exchange_rounds.
#define RT_MAX_PENDING(c) (64 + 4 * (c)->ranks)

static inline int rt_peer(const RtComm *c, const RtGroup *g, int i)
{
    return c->rank + (i - g->me) * g->stride;
}

// Before a call on the rank's own thread along `axis`: waits until nothing that was started needs
// the same boards; -1, between any ranks: until nothing is under way.
void rt_comm_thread_sync(RtComm *c, int axis);
// What it has sent of rt_comm_bytes.
int64_t rt_comm_thread_bytes(const RtComm *c, RtExchangeKind kind, int axis);

// ---- what is seen to beside all that: watchdog.c; all but wait take NULL ----
// `place`: the number of this rank as far as it is known.
bool rt_watchdog_open(RtWatchdog **w, const RtModel *m, double timeout, int place);
void rt_watchdog_close(RtWatchdog *w);
// The library is called for something that needs the others, who may not be watched from then on;
// NULL: that is done. It ends the rank, and so the job, after the timeout.
void rt_watchdog_wait(RtWatchdog *w, const char *what);
// The boards are there: watches over the other ranks of this host.
void rt_watchdog_peers(RtComm *c);
// That file is removed if the job ends before its time; NULL: none.
void rt_watchdog_file(RtWatchdog *w, const char *path);
// It does: removes it.
void rt_watchdog_lose(RtWatchdog *w);
// This rank is to end the job: kills it and its launcher, if they still are there so much later.
void rt_end_launcher(unsigned seconds);

// ---- waiting: wait.c ----
RtPending rt_send(RtComm *c, int peer, const void *data, int64_t bytes);
RtPending rt_receive(RtComm *c, int peer, void *data, int64_t bytes);
// Until the message has gone or come; until all of the group have come as often as this rank. If
// that takes too long, the rank that is missing is named and the job ends.
void rt_await(RtComm *c, RtPending p);
void rt_barrier(RtComm *c, const RtGroup *g);
// The same in two, with work between that needs none of the others.
void rt_barrier_arrive(RtComm *c, const RtGroup *g);
void rt_barrier_wait(RtComm *c, const RtGroup *g);
// Before this rank's board is written for that group: waits until those of the one before left it.
// Within a group the halves taken in turn and the meetings between do.
void rt_window_acquire(RtComm *c, const RtGroup *g);
// After the last reading of the group's boards.
void rt_window_release(RtComm *c, const RtGroup *g);

#endif
