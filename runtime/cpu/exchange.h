// What the collectives share. All of them are messages between each two ranks of a group, boxes of
// the tensors' bytes, and sums are taken in the order of the ranks. So results have the same bits
// on all ranks, in every run, and for every size of chunks and number of threads.
#ifndef SHARDCC_RT_CPU_EXCHANGE_H
#define SHARDCC_RT_CPU_EXCHANGE_H

#include "runtime/cpu/box.h"
#include "runtime/transport.h"

// What a rank of a group of n sends and gets. The boxes that rank i sends to j and j gets from i
// have the same bytes in the same order.
typedef struct RtMessages {
    const RtExchange *p;
    int n, me;
    char *x, *y;      // x: of rt_gather_boxes NULL if what is sent has its place in y
    int64_t shard;    // of p->whole
    int first, step;  // of rt_gather_boxes: rank i of the group has piece first + i · step
    bool to_all;      // all are sent the same
    bool reduces;     // what is got is one value: p->op of all
    int64_t most;     // bytes that no message exceeds: the same number on all ranks of the group
    void (*boxes)(const struct RtMessages *m, int peer, RtBox *send, RtBox *receive);
} RtMessages;

// How many of `whole` elements the piece of rank i has.
int64_t rt_shard_elements(int64_t whole, int64_t shard, int i);
// Boxes where x is the whole of the dim and y a piece.
void rt_scatter_boxes(const RtMessages *m, int peer, RtBox *send, RtBox *receive);
// Where all pieces have their places in y.
void rt_gather_boxes(const RtMessages *m, int peer, RtBox *send, RtBox *receive);

// The ranks along p->axis on this host; the rest of them, by host; all. Of one where the program
// has one rank.
RtGroup rt_intra_host_group(const Rt *rt, const RtExchange *p);
RtGroup rt_inter_host_group(const Rt *rt, const RtExchange *p);
RtGroup rt_exchange_group(const Rt *rt, const RtExchange *p);
// Notes what is done, for messages about trouble, and that so many bytes are handed to it.
void rt_exchange_begin(Rt *rt, const RtExchange *p, RtExchangeKind kind, int64_t bytes);
// Ranks of one host: through their boards, without Rt.workspace.
void rt_exchange_by_window(Rt *rt, const RtGroup *g, const RtMessages *m);
// Any ranks: by the transport's messages.
void rt_exchange_by_message(Rt *rt, const RtGroup *g, const RtMessages *m);
// All ranks along the axis, m->n of them: in the first way if they are on one host.
void rt_exchange(Rt *rt, const RtMessages *m);

#endif
