// The parts that the collectives share. Each collective sends messages between pairs of ranks of a
// group. A message is a box of a tensor's bytes. Sums are taken in the order of the ranks, so
// results have the same bits on all ranks, in every run, for every chunk size and every number of
// threads.
#ifndef SHARDCC_RT_EXCHANGE_H
#define SHARDCC_RT_EXCHANGE_H

#include "runtime/comm/transport.h"
#include "runtime/exchange/box.h"
#include "runtime/exchange/message_collectives.h"

// The messages of one rank of a group of n. The boxes that rank i sends to j and that j receives
// from i have the same bytes in the same order.
typedef struct RtMessages {
    const RtExchange *p;
    int n, me;
    char *x, *y;      // x: for rt_gather_boxes, NULL if the sent bytes are already in y
    int64_t shard;    // shard size, in elements of p->whole
    int first, step;  // for rt_gather_boxes: rank i of the group has shard first + i · step
    bool to_all;      // every peer is sent the same bytes
    bool reduces;     // the received bytes are terms, which p->op combines to one value
    int64_t most;     // upper bound of a message's bytes: the same number on all ranks of the group
    void (*boxes)(const struct RtMessages *m, int peer, RtBox *send, RtBox *receive);
} RtMessages;

// Elements of the shard of rank i, when `whole` elements are split into shards of `shard`.
int64_t rt_shard_elements(int64_t whole, int64_t shard, int i);
// Boxes of a collective whose x has the whole dim and whose y is a shard.
void rt_scatter_boxes(const RtMessages *m, int peer, RtBox *send, RtBox *receive);
// Boxes of a collective whose y has the whole dim.
void rt_gather_boxes(const RtMessages *m, int peer, RtBox *send, RtBox *receive);

// The groups of this rank along p->axis: its ranks on this host, the ranks with this number on
// every host, and all ranks. Each has one member if the program has one rank.
RtGroup rt_intra_host_group(const Rt *rt, const RtExchange *p);
RtGroup rt_inter_host_group(const Rt *rt, const RtExchange *p);
RtGroup rt_exchange_group(const Rt *rt, const RtExchange *p);
// The rank that a permute's rank receives from, and the one that it sends to. With p and q ranks
// along the axes, (i, j) gets the tensor of (k / q, k % q), where k = j · p + i.
typedef struct RtPartners {
    int from, to;
} RtPartners;
RtPartners rt_partners(const RtComm *c, const RtExchange *e);
// Waits for calls of the comm thread that need the same shared windows, records this call for error
// messages, and counts `bytes` in rt_comm_bytes.
void rt_exchange_begin(Rt *rt, const RtExchange *p, RtExchangeKind kind, int64_t bytes);
// Exchanges through the shared windows of one host. Needs no Rt.workspace.
void rt_exchange_by_window(Rt *rt, const RtGroup *g, const RtMessages *m);
// Exchanges by messages of the transport. Works for any ranks.
void rt_exchange_by_message(Rt *rt, const RtGroup *g, const RtMessages *m);
// Exchanges between all m->n ranks along the axis: through the shared windows if they are on one
// host, else by messages.
void rt_exchange(Rt *rt, const RtMessages *m);

#endif
