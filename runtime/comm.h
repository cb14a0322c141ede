// The other ranks of a program, as the trainer sees them: agreeing, bringing bytes to rank 0,
// ending together. A program of one rank has a NULL comm, and all but rt_comm_open take that: there
// is nobody else then. Every wait for another rank ends: --timeout bounds it.
#ifndef SHARDCC_RT_COMM_H
#define SHARDCC_RT_COMM_H

#include "runtime/rt.h"

typedef struct RtComm RtComm;
typedef struct RtWatchdog RtWatchdog;

// ---- coordinates ----
int rt_mesh_ranks(const RtMesh *m);
int rt_mesh_stride(const RtMesh *m, int axis);  // between neighbours along that axis, in ranks
int rt_mesh_coordinate(const RtMesh *m, int axis, int rank);

// ---- the job ----
// Starts the library and finds the others, if the model has several ranks. False after a message if
// those that were started aren't the model's. `timeout`: seconds that a wait for a rank may take.
bool rt_comm_open(RtComm **c, const RtModel *m, double timeout);
// All ranks call it, having ended well; a rank that failed calls rt_comm_fail.
void rt_comm_close(RtComm *c);
int rt_comm_rank(const RtComm *c);
int rt_comm_ranks(const RtComm *c);
const char *rt_comm_axis(const RtComm *c, int axis);  // its name; of several ranks only

// ---- between all ranks, who all call it ----
// The largest x of all: what they agree on.
int64_t rt_comm_max(RtComm *c, int64_t x);
// Brings the `bytes` at `data` of rank `from` to rank 0's `data`. Other ranks needn't call it.
void rt_comm_collect(RtComm *c, int from, void *data, int64_t bytes);

// ---- the end ----
// This rank has said what is wrong and can't go on: says which one it is and ends the job, status
// 1. With one rank it returns.
void rt_comm_fail(RtComm *c);

// While the job goes on `path` is being written, under a name that nobody wants; NULL: no more. If
// the job ends before its time it is removed. Stays valid until then.
void rt_comm_file(RtComm *c, const char *path);

// The call that comes next, for a message about a rank that doesn't come.
void rt_comm_at(RtComm *c, const char *what);

// ---- communication beside computation: comm_thread.c ----

// A thread for what rt_start is given, if the model has such calls and there are other ranks; it
// uses any of the CPUs that this process may use. Without it calls are carried out where they
// start. False after a message.
bool rt_comm_thread_open(Rt *rt, const RtModel *m);
// What was started has been waited for.
void rt_comm_thread_close(Rt *rt);
// The calling thread is one that waits for messages: it is to run as soon as one is there, also
// where another one computes. Where that can't be asked for nothing changes.
void rt_request_short_slice(void);
// Microseconds that it naps between two looks. Each look takes of the computation beside it; what
// is under way meanwhile lasts for longer, on a link that is worth a courier.
enum { RT_POLL_MICROSECONDS = 200 };

// ---- what was sent ----
typedef enum RtExchangeKind {
    RT_ALL_GATHER,
    RT_ALL_REDUCE,
    RT_ALL_TO_ALL,
    RT_REDUCE_SCATTER,
    RT_PERMUTE,
    RT_N_EXCHANGES
} RtExchangeKind;

const char *rt_exchange_name(RtExchangeKind kind);  // "all_gather"
// Bytes that this rank has handed to such calls along that axis since the start: of chunks, as
// plans count them.
int64_t rt_comm_bytes(const RtComm *c, RtExchangeKind kind, int axis);

#endif
