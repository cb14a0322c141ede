// The collectives of tensors in memory of the host, which are made of messages and shared windows.
#ifndef SHARDCC_RT_MESSAGE_COLLECTIVES_H
#define SHARDCC_RT_MESSAGE_COLLECTIVES_H

#include "runtime/collectives.h"

extern const RtCollectives rt_message_collectives;

// ---- its entries, in a file each ----
RtCollective rt_message_all_gather, rt_message_all_reduce, rt_message_all_to_all,
    rt_message_keep_one, rt_message_permute, rt_message_reduce_scatter, rt_message_shard;

#endif
