// The trainer's view of the other ranks: agreement, collecting bytes on rank 0, a common end. A
// program of one rank has a NULL comm, which every function except rt_comm_open accepts. Every wait
// for another rank is bounded by --timeout.
#ifndef SHARDCC_RT_COMM_H
#define SHARDCC_RT_COMM_H

#include "runtime/rt_kernels.h"

typedef struct RtComm RtComm;
typedef struct RtWatchdog RtWatchdog;

// ---- the job ----

// How the options describe this rank and its job. Zeros: a launcher's environment does.
typedef struct RtJob {
    double timeout;  // seconds that a wait for another rank may take
    int rank, size;  // this rank's number and how many there are; size 0: not told
    char host[256];  // where rank 0 is, and its port; "": not told
    int port;
    const char *interface;  // of the network, by which other ranks reach this one; NULL: any
    char name[64];    // of a job all of whose ranks rt_spawn started, and that has no host; or ""
    bool is_spawned;  // rt_spawn started this rank
    bool follows_stdin;  // rt_spawn gets the ranks' signals from stdin
} RtJob;

// Finds how many ranks a launcher has started and the number of this one, by the options and the
// environment: 1 rank if there is no launcher. Returns false after a message.
bool rt_launched(const RtModel *m, const RtJob *job, int *ranks, int *rank);

// Starts `n` ranks on this host, each a copy of this process: all of the job, or, if `job` has a
// size, those from its rank on. In a rank it tells `job` who it is, and returns true. In the
// process that called it it waits for all ranks, hands on the signals that it gets, ends the others
// if one fails, and returns false: *status is the first failed rank's, or 0. Call it before there
// are threads. If the job follows stdin, each byte there is the number of a signal for the ranks,
// and they end once it ends: whoever started this process is gone.
bool rt_spawn(const RtModel *m, int n, RtJob *job, int *status);

// Starts the transport and connects the ranks, if the model has several. Returns false if the ranks
// that were started don't match the model, or if they can't be connected, after a message of this
// or of another rank.
bool rt_comm_open(RtComm **c, const RtModel *m, const RtJob *job);
// Every rank that ended well calls it; a rank that failed calls rt_comm_fail.
void rt_comm_close(RtComm *c);
int rt_comm_rank(const RtComm *c);
int rt_comm_ranks(const RtComm *c);
int rt_comm_rank_of_host(const RtComm *c);  // its number among the ranks of its host, from 0
const char *rt_comm_axis(const RtComm *c, int axis);  // name; for several ranks only

// ---- collectives of all ranks ----
// Returns the largest x of all ranks. All ranks call it.
int64_t rt_comm_max(RtComm *c, int64_t x);
// Copies the `bytes` at `data` of rank `from` to rank 0's `data`. Other ranks needn't call it.
void rt_comm_collect(RtComm *c, int from, void *data, int64_t bytes);

// ---- outputs: collect.c ----
// Elements [first, first + count) of a tensor without layers, contiguous at the start of `buffer`.
// All ranks call it; only rank 0 gets the elements of all ranks, and the result is undefined on
// others. `buffer` holds `count` elements, or twice as many if the tensor is sharded.
void rt_collect(Rt *rt, const RtModel *m, const RtTensor *t, int64_t first, int64_t count,
                char *buffer);

// ---- the end ----
// This rank has printed an error and can't go on. The function names the rank and ends the job with
// status 1. With one rank it returns.
void rt_comm_fail(RtComm *c);

// `path` is a temporary file that the job is writing; it is removed if the job ends early. NULL:
// there is none any more. The caller keeps the string valid until then.
void rt_comm_file(RtComm *c, const char *path);

// Names the next call, for the message about a rank that doesn't come. `layer` replaces {}, unless
// it is negative.
void rt_comm_at(RtComm *c, const char *what, int64_t layer);

// ---- overlapped communication: comm_thread.c ----

// Entries of a table of collectives (collectives.h) whose calls need a thread. rt_comm_thread_open
// starts it, if the model starts calls; it may run on any CPU of this process. Without it
// rt_comm_thread_start carries out the call itself.
bool rt_comm_thread_open(Rt *rt, const RtModel *m, bool overlaps);
// Ends the thread. All calls that were started have been waited for.
void rt_comm_thread_close(Rt *rt, bool is_clean);
void rt_comm_thread_start(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y,
                          const void *x);
void rt_comm_thread_wait(Rt *rt, int slot);
// Asks Linux to run the calling thread, which waits for messages, as soon as one arrives, even if
// another thread computes on its CPU. Does nothing if Linux is too old for it.
void rt_request_short_slice(void);
// Microseconds that the comm thread sleeps between two polls. A poll takes time from the concurrent
// computation, and messages that are worth a comm thread take longer than that.
enum { RT_POLL_MICROSECONDS = 200 };

// ---- what was sent, and how long it took ----
typedef enum RtExchangeKind {
    RT_ALL_GATHER,
    RT_ALL_REDUCE,
    RT_ALL_TO_ALL,
    RT_REDUCE_SCATTER,
    RT_PERMUTE,
    RT_N_EXCHANGES
} RtExchangeKind;

const char *rt_exchange_name(RtExchangeKind kind);  // "all_gather"
// Bytes that this rank has handed to collectives of that kind along that axis since the start.
// Counts whole chunks, as plans do.
int64_t rt_comm_bytes(const RtComm *c, RtExchangeKind kind, int axis);
// Seconds since the start that this rank's own thread has spent on communication: in collectives,
// in waits for started collectives, and in agreements. 0 for one rank.
double rt_comm_seconds(const RtComm *c);

#endif
