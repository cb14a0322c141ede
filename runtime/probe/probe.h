// Shared by the files of the probes, of CPUs and of GPUs: the ranks that a launcher started, the
// time of messages between them, the load that all ranks together put on messages and computation,
// and the operands of products and attention.
#ifndef RT_PROBE_H
#define RT_PROBE_H

#include <stdbool.h>

#include "runtime/comm/transport.h"
#include "runtime/rt_kernels.h"

typedef struct Ranks {
    int n, rank;
    int per_host;
    int per_machine;  // ranks on one machine, whose cores several hosts share if they are
                      // containers
    RtModel model;    // of a program with so many ranks
    RtComm *comm;     // NULL: there is one rank
    bool is_spawned;  // the ranks are processes of one program, whose output rank 0 prints
} Ranks;

enum { MAX_RANKS = 128 };

// Connects the ranks of a program that `m` describes. If that has no mesh, ranks_start makes one:
// an axis, or, for devices with collectives of their own, as many axes of two ranks as there are.
// It is one rank if neither `job` nor a launcher's variables say more. Exits with a message if
// there are too many, or if one doesn't come.
void ranks_start(Ranks *r, const RtModel *m, RtJob job);
// The same, and counts the ranks of a host; with `spawn` > 0 it starts so many ranks itself. Exits
// with a message unless each host has the same number of ranks, with consecutive numbers; and where
// it has started ranks, once they have ended.
void ranks_begin(Ranks *r, const RtModel *m, int spawn);
// A barrier that sleeps while it waits, so that it takes no CPU time from ranks that still work.
void ranks_wait(const Ranks *r);
void ranks_end(const Ranks *r);
// Messages to and from another rank.
void ranks_send(const Ranks *r, int other, const void *p, int bytes);
void ranks_receive(const Ranks *r, int other, void *p, int bytes);

// Computation concurrent with the messages, as a trainer would do: less than a millisecond of work.
typedef struct Meanwhile {
    void (*call)(Rt *rt, const void *p);
    Rt *rt;
    const void *p;
} Meanwhile;

// Measures messages between pairs of ranks and between all ranks together. Rank 0 prints them:
// "messages": {…}. All ranks call it.
void ranks_measure(const Ranks *r, const Meanwhile *m);

// The largest x of all ranks, which isn't negative.
double ranks_most(const Ranks *r, double x);
double median(double *x, int n);  // sorts x

// ---- the times of messages ----

// As a cluster's file has them. Each rank fills its own rows of alpha and beta.
enum { MESSAGE_TRIES = 5 };
typedef struct MessageTimes {
    double *alpha, *beta;      // s, s/byte: by this rank · ranks + the other one
    double *times, *overhead;  // by try · ranks + stride
} MessageTimes;

MessageTimes times_new(const Ranks *r);
// Rank 0 prints those of all ranks: "messages": {…}, and frees them. All ranks call it.
void times_print(const Ranks *r, MessageTimes *t);

// ---- messages ----

enum {
    LARGE = 1 << 22,  // bytes of a message that is large enough to show the time per byte
    // How many messages of a byte, and how many large ones, one time is the median of.
    SMALL_CALLS = 201,
    LARGE_CALLS = 5,
};

// Seconds of a message between this rank and `other`, half of a round trip; the rank with `begins`
// sends first. The median of `calls`, at most SMALL_CALLS.
double message_seconds(const Ranks *r, int other, bool begins, char *p, int bytes, int calls);

// Every rank exchanges messages with the rank `stride` away. Returns how many times longer this
// takes than if only the first rank and its partner exchange. `p` holds two LARGE messages.
double load_times(const Ranks *r, int stride, char *p);
// Seconds that computation takes longer for each byte sent in each direction meanwhile.
double load_overhead(const Ranks *r, int stride, char *p, const Meanwhile *m);

// ---- operands ----

// y = a b for `batch` dense matrices a, m by k, and b, k by n.
RtDot product_of(RtType type, int64_t batch, int64_t m, int64_t n, int64_t k);

// Attention of heads with HEAD columns. Queries, keys and values of all heads lie side by side, as
// one matrix product makes them; so do their gradients. Results are ordered by head.
enum { HEAD = 64 };
typedef struct Heads {
    RtAttention p;
    char *x, *dx, *y, *dy;  // of RtAttention.type
    float *max, *sum;
    int64_t all;  // bytes of a token's queries
} Heads;

// `type`: of queries, keys and values, RT_F32 or a half.
int64_t heads_bytes(RtType type, int64_t heads, int64_t tokens);
Heads heads_at(void *memory, RtType type, int64_t heads, int64_t tokens);
// Both take Heads. The compiler counts two products forward, four in the gradient.
void attend(Rt *rt, const void *heads);
void attend_grad(Rt *rt, const void *heads);
double heads_flops(int64_t heads, int64_t tokens);  // of one of the two products forward

// ---- hosts ----

// The devices of this host, in a program's words; "": it says nothing of them.
enum { MAX_DEVICE_TEXT = 128 };
typedef struct HostDevices {
    char devices[MAX_DEVICE_TEXT];    // "2, NVIDIA H200"
    char driver[MAX_DEVICE_TEXT];     // "CUDA 13.0"
    char exchanges[MAX_DEVICE_TEXT];  // "NCCL 2.28.9"
} HostDevices;

// Asks the program, by its --info; "": there is none. `libraries`: for its --libraries; "": not
// given.
void host_devices_find(const char *program, const char *libraries, HostDevices *to);

// Prints what is there and what is free on each rank's host, and how far hosts are apart. `argv`:
// the files of shardcc and of a program ("": none), the folder of its checkpoints, a file that
// isn't there, which rank 0 makes for the others to see, and removes, and the folder of the
// program's
// --libraries ("": not given); then a trainer's options that say which ranks this is. Returns the
// exit status.
enum { PROBE_CHECK_WORDS = 5 };
int probe_check(int argc, char **argv);

#endif
