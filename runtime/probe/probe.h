// Shared by the files of the probe: the ranks that a launcher started, the time of messages between
// them, and the load that all ranks together put on messages and computation.
#ifndef RT_PROBE_H
#define RT_PROBE_H

#include <stdbool.h>

#include "runtime/comm/transport.h"

typedef struct Ranks {
    int n, rank;
    int per_host;
    int per_machine;  // ranks on one machine, whose cores several hosts share if they are
                      // containers
    RtModel model;    // of a program with so many ranks
    RtComm *comm;     // NULL: there is one rank
} Ranks;

enum { MAX_RANKS = 128 };

// Connects the ranks; it is one rank if neither `job` nor a launcher's variables say more. Exits
// with a message if there are too many, or if one doesn't come.
void ranks_start(Ranks *r, RtJob job);
// The same, and counts the ranks of a host. Exits with a message unless each host has the same
// number of ranks, with consecutive numbers.
void ranks_begin(Ranks *r);
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
