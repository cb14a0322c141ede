// The table of the collectives in memory of the host.
#include "runtime/exchange/message_collectives.h"

#include "runtime/comm/comm.h"

const RtCollectives rt_message_collectives = {
    .name = "messages",
    .open = rt_comm_thread_open,
    .close = rt_comm_thread_close,
    .all_gather = rt_message_all_gather,
    .all_reduce = rt_message_all_reduce,
    .all_to_all = rt_message_all_to_all,
    .keep_one = rt_message_keep_one,
    .permute = rt_message_permute,
    .reduce_scatter = rt_message_reduce_scatter,
    .shard = rt_message_shard,
    .start = rt_comm_thread_start,
    .wait = rt_comm_thread_wait,
};
