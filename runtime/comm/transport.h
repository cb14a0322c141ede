// The transport of messages and shared memory between ranks, which the collectives are built on. Of
// a message library we only use messages between two ranks and memory that the ranks of a host
// share. So the order of sums is up to us alone.
#ifndef SHARDCC_RT_TRANSPORT_H
#define SHARDCC_RT_TRANSPORT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "runtime/comm/comm.h"

// Messages between two ranks with the same tag arrive in the order in which they were sent. Until
// `test` says that a message is complete, its sender must not change the buffer and its receiver
// must not use it.
enum { RT_MAX_MESSAGE_BYTES = 1 << 30 };  // of one message
typedef struct RtWarning RtWarning;
struct RtTransport {
    const char *name;      // in rt_transports.def
    const char *launcher;  // starts N ranks as "mpirun -n N"; NULL: it needs none, "--spawn N"
    const char *unbind;    // its option that lets ranks use all CPUs; NULL: they do
    // The variable by which a launcher shows that may still run after its job has ended; NULL: none
    // does.
    const char *lingers;
    // For messages: "MPI's start". NULL: it says itself who is missing.
    const char *starting, *ending;
    // Finds how many ranks there are, and the number of this one, before it starts. NULL: the
    // variables of rt_transports.def say it. Returns false after a message.
    bool (*launched)(const RtModel *m, const RtJob *job, int *ranks, int *rank);
    // Sets rank, ranks and window. Returns false after a message of this or of another rank.
    bool (*open)(RtComm *c);
    void (*close)(RtComm *c);
    // Both start a message and return its number.
    int (*send)(RtComm *c, int to, const void *data, int64_t bytes);
    int (*receive)(RtComm *c, int from, void *data, int64_t bytes);
    // 1: complete, and the number is free again; 0: not yet; -1: the link is broken.
    int (*test)(RtComm *c, int message);
    // Tells all others that this rank gives up waiting.
    void (*warn)(RtComm *c, const RtWarning *w);
    // Returns a rank that has sent such a warning and hasn't been returned yet, and copies it; -1:
    // none.
    int (*warned)(RtComm *c, RtWarning *w);
    // The watchdog's thread calls it a few times a second. Returns false if another rank has ended
    // the job. NULL: the launcher ends it.
    bool (*look)(RtComm *c);
    // Writes the interface and the address at which other hosts reach this rank: "eth0 10.0.0.1".
    // "": it has none. NULL: it isn't known.
    void (*address)(const RtComm *c, char *to, size_t capacity);
    // Ends the whole job.
    void (*end)(RtComm *c);
    const RtCollectives *collectives;  // made of its messages
};

// A process: its id, and the namespace in which the id is valid (containers have their own).
// namespace 0: unknown.
typedef struct RtProcess {
    pid_t id;
    int64_t pid_namespace;
} RtProcess;
RtProcess rt_process(void);  // this one

// The shared window of a rank, which the other ranks of its host read: how often it has arrived at
// barriers along each axis, its process, and two buffers that are used alternately.
enum { RT_WINDOW_BUFFER_BYTES = 1 << 19 };
typedef struct RtSharedWindow {
    struct {
        _Alignas(64) atomic_uint_least64_t arrivals;
    } axis[RT_MAX_AXES];
    RtProcess process;
    // The collectives that it has begun, by RtComm.tag, and those that have ended, which only
    // devices with collectives of their own count.
    struct {
        atomic_int_least64_t begun, ended;
    } calls[2];
    atomic_bool ends;  // it ends the job, and has said why
    _Alignas(64) char buffer[2][RT_WINDOW_BUFFER_BYTES];
} RtSharedWindow;

// Equally spaced ranks: number i of the group is rank + (i - me) · stride.
typedef struct RtGroup {
    int axis, n, me, stride;
} RtGroup;

// The state of this rank's shared window. One call at a time uses it.
typedef struct RtWindowState {
    RtGroup readers;  // the group that may still be reading this rank's window
    int buffer;       // the buffer to write next
} RtWindowState;

// The description of a call; NULL: it has none. `layer` replaces {} in it, unless it is negative.
typedef struct RtCallName {
    const char *what;
    int64_t layer;
} RtCallName;
// Prints "h.3.mlp: all_reduce"; nothing if there is none.
void rt_call_name_print(RtCallName name, char *to, size_t capacity);

// A collective: its name, and the bytes that a rank sends; 0: they aren't known.
typedef struct RtCallLabel {
    RtCallName name;
    int64_t bytes;
} RtCallLabel;

// How many collectives a rank has begun, and ended; -1: not known.
typedef struct RtCallCounts {
    int64_t begun, ended;
} RtCallCounts;

// A rank that gives up tells the others for whom it waited, and in which collective. It also tells
// how far each rank of its host has come: it can read the windows of ranks that can't warn.
enum { RT_NEAR = 32 };  // ranks before it and after it
struct RtWarning {
    int peer;  // itself: it doesn't know for whom; -1: it hasn't given up
    RtCallCounts counts;
    RtCallCounts near[2 * RT_NEAR + 1];  // of its own rank + i - RT_NEAR
    int64_t bytes;                       // of its latest collective
    char name[200];
    char why[200];  // what the device says; "": nothing
};

// A message in flight, and its other rank.
typedef struct RtPending {
    int message, peer;
} RtPending;

struct RtComm {
    const RtTransport *transport;
    void *state;  // the transport's
    const RtModel *model;
    RtJob job;
    double timeout;
    int rank, ranks;
    RtSharedWindow **window;  // by rank; NULL: the rank is on another host
    // The ranks along an axis: the group on one host, which uses shared windows, and the group of
    // the ranks with the same number on every host, which sends messages. A group of one has
    // nothing to do.
    RtGroup intra_host[RT_MAX_AXES], inter_host[RT_MAX_AXES];
    RtWindowState *window_state;
    RtCallName at;            // of the latest RT_AT
    const char *kind, *axis;  // the current call
    int64_t call_bytes;       // that this rank sends in it; 0: not known
    struct RtLastCalls *last_calls;
    bool counts_ends;         // of its collectives, in its window
    bool is_counted_already;  // the device counts them, both begins and ends
    // Ends the device's exchanges, before the transport ends the job. NULL: there are none.
    void (*abandon)(void *exchanges);
    void *exchanges;
    RtWarning *warning;  // by rank
    RtPending *pending;  // RT_MAX_PENDING
    char **source;       // by rank: operands of rt_combine
    int64_t bytes[RT_N_EXCHANGES][RT_MAX_AXES];
    double seconds;  // see rt_comm_seconds
    // Two threads may talk to other ranks: the rank's own, and a second one, which has an RtComm of
    // its own (RtSecondComm). `lock` protects the transport and `warning`.
    RtWatchdog *watchdog;
    const RtComm *second;              // the second thread's; NULL: there is none, or this is it
    struct RtCommThread *comm_thread;  // NULL: there is none, or this is its RtComm
    int tag;                           // of messages: 1 for the second thread, else 0
    const atomic_bool *is_awaited;  // does the rank's thread wait for the second one? NULL: always
    pthread_mutex_t *lock;
};

// Maximal number of messages in flight with one tag; see rt_exchange_rounds.
#define RT_MAX_PENDING(c) (64 + 4 * (c)->ranks)

static inline int rt_peer(const RtComm *c, const RtGroup *g, int i)
{
    return c->rank + (i - g->me) * g->stride;
}

// The rank's own thread calls it before a collective along `axis`: waits until no call of the comm
// thread needs the same shared windows. Axis -1: waits until the comm thread is idle.
void rt_comm_thread_sync(RtComm *c, int axis);

// The communicator of a second thread that exchanges with other ranks: it has messages and a tag of
// its own, and shares the rest with the rank's own communicator. One of them can be open.
typedef struct RtSecondComm {
    RtComm comm;
    pthread_mutex_t transport;
} RtSecondComm;
// `names`: the collectives whose names it keeps, the last ones.
void rt_second_comm_open(RtSecondComm *s, RtComm *c, int64_t names);
void rt_second_comm_close(RtSecondComm *s, RtComm *c);

// ---- a thread that looks at something now and then: ticker.c ----
typedef struct RtTicker {
    void (*look)(void *data);  // called with the lock
    void *data;
    double seconds;  // between two looks
    bool is_closing;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} RtTicker;
// Returns false if the thread can't be started; then there is nothing to close.
bool rt_ticker_open(RtTicker *t, double seconds, void (*look)(void *data), void *data);
void rt_ticker_close(RtTicker *t);

// ---- the watchdog: watchdog.c; all functions except rt_watchdog_wait accept NULL ----
// `rank`: this rank's number, as far as it is known.
bool rt_watchdog_open(RtWatchdog **w, const RtModel *m, const RtJob *job, int rank);
void rt_watchdog_close(RtWatchdog *w);
// Call it before a library call that needs the other ranks, whom nothing watches meanwhile, and
// with NULL after it. The watchdog ends the rank, and so the job, if it takes longer than the
// timeout.
void rt_watchdog_wait(RtWatchdog *w, const char *what);
// Starts watching the other ranks of this host, once all else in `c` exists: one that is gone ends
// the job with a message.
void rt_watchdog_peers(const RtComm *c);
// The file at `path` is removed if the job ends early; NULL: there is none.
void rt_watchdog_file(RtWatchdog *w, const char *path);
// The job ends early: removes the file.
void rt_watchdog_lose(RtWatchdog *w);
// Is this process the first of its host to print an error that several find? The kernel takes a
// name (in the abstract namespace of Unix sockets, unix(7)) once until all processes that hold it
// have ended. `error`: the name, with what is the job's own in it.
bool rt_is_speaker(const char *error);
// This rank ends the job: kills this process, and its launcher if that lingers, if they still run
// after `seconds`.
void rt_end_launcher(const RtTransport *t, unsigned seconds);

// ---- the collectives that ranks began last: last_calls.c ----
enum { RT_LAST_CALLS = 64 };                        // whose names a rank's thread keeps
void rt_last_calls_open(RtComm *c, int64_t names);  // it keeps the names of so many
void rt_last_calls_close(RtComm *c);
// The collective that the communicator is in: `at`, or `kind`.
RtCallLabel rt_current_call(const RtComm *c);
void rt_last_calls_add(RtComm *c);  // this rank begins it
void rt_last_calls_end(RtComm *c);  // it has ended
// Collective number `number`, which this rank begins later.
void rt_last_calls_name(RtComm *c, int64_t number, RtCallLabel call);
// This rank gives up waiting for that peer.
RtWarning rt_warning(const RtComm *c, int peer);
// How far a rank has come.
RtCallCounts rt_call_counts(const RtComm *c, int rank);
// Prints the name of a collective, as far as this rank, or one that has warned, knows it, and its
// bytes.
void rt_call_print(const RtComm *c, int64_t number, char *to, size_t capacity);
// Prints " 3" or "s 0-3, 5": the ranks for which is_one returns true.
typedef bool RtIsOne(const RtComm *c, const void *data, int rank);
void rt_ranks_print(const RtComm *c, RtIsOne *is_one, const void *data, char *to, size_t capacity);
// Prints a line for each collective that is the last one of some ranks, as far as it is known.
void rt_last_calls_say(const RtComm *c);

// ---- collectives that don't end: stuck.c ----
// The communicator whose collectives end counted: `c`, or its second one; NULL: there is none.
const RtComm *rt_counting_comm(const RtComm *c);
// How far the ranks of this host have come together: it grows with each begin and end.
int64_t rt_progress_here(const RtComm *c);
// Says which ranks haven't begun, or haven't ended, the collective that others wait for. Returns
// false, and says nothing, if there is none, or if it could only name all ranks, unless it must.
bool rt_stuck_say(const RtComm *c, bool must);
// Says that a rank is gone, in that collective if there is one.
void rt_gone_say(const RtComm *c, int rank);

// Ends the whole job, after a message.
void rt_end_job(RtComm *c);

// ---- waiting: wait.c ----
RtPending rt_send(RtComm *c, int peer, const void *data, int64_t bytes);
RtPending rt_receive(RtComm *c, int peer, void *data, int64_t bytes);
// rt_await waits until the message is complete. rt_barrier waits until every rank of the group has
// arrived as often as this one. After the timeout both name the missing rank and end the job.
void rt_await(RtComm *c, RtPending p);
void rt_barrier(RtComm *c, const RtGroup *g);
// For a thread that watches the collectives of a device: has another rank given up?
bool rt_is_warned(RtComm *c);
// Gives up as they do: says which ranks the device waits for, and ends the job. `why`: what the
// device says; "": nothing.
void rt_give_up(RtComm *c, const char *why);
// A barrier in two halves, with work in between that needs no other rank.
void rt_barrier_arrive(RtComm *c, const RtGroup *g);
void rt_barrier_wait(RtComm *c, const RtGroup *g);
// Before this rank's window is written for that group: waits until the ranks of the group before
// have stopped reading it. Within a group the two buffers and the barriers make this unnecessary.
void rt_window_acquire(RtComm *c, const RtGroup *g);
// For a thread that looks at the clock much more often than each half timeout: the seconds between
// two looks, if it didn't run meanwhile, else 0. A scheduler that suspends a job stops all ranks;
// that time doesn't count to any wait.
static inline double rt_stopped_seconds(double timeout, double before, double now)
{
    return before > 0 && now - before > timeout / 2 ? now - before : 0;
}
// After the last read of the group's windows.
void rt_window_release(RtComm *c, const RtGroup *g);

#endif
