// Shared by the two sides of the rendezvous, rank 0 (lead.c) and the others (join.c): rendezvous.c.
#ifndef SHARDCC_RT_RENDEZVOUS_H
#define SHARDCC_RT_RENDEZVOUS_H

#include "runtime/comm/tcp/tcp.h"

enum {
    RT_MAX_ADDRESSES = 8,
    RT_RENDEZVOUS_POLL = 50
};  // RT_RENDEZVOUS_POLL: milliseconds between two looks

// The first bytes of rank 0's table of ranks.
typedef struct RtRendezvousTable {
    int64_t kind;  // RT_WELCOME, or RT_JOB_ENDS
    uint64_t key;
} RtRendezvousTable;

typedef struct RtRendezvous {
    RtComm *c;
    RtTcp *s;
    const RtTcpJob *job;
    double deadline;
    RtAddress at[RT_MAX_ADDRESSES];  // where rank 0 is
    int n_at;
    int *joined;  // of rank 0, by rank: its connection; -1: it hasn't come
    RtTcpPeer self;
} RtRendezvous;

// "at node3:29500"
void rt_rendezvous_print_endpoint(const RtRendezvous *x, char *to, size_t capacity);
// Whole messages on a socket that doesn't block. `n` may be more than its buffers hold.
bool rt_rendezvous_transfer(int fd, void *data, size_t n, bool is_send, double deadline);
// The program's hash: ranks that run another text would exchange other values.
uint64_t rt_rendezvous_program(const RtModel *m);
// Opens this rank's listener for the others, in the family of rank 0's address. Returns false after
// a message.
bool rt_rendezvous_listen(RtRendezvous *x, const RtAddress *rank_0);
// Sets self.listener: the address of --interface, else this end of the connection `fd`. Returns
// false after a message.
bool rt_rendezvous_set_address(RtRendezvous *x, int fd);
// Rank 0's side. Returns false after a message.
bool rt_rendezvous_lead(RtRendezvous *x);

#endif
