// The elements of a dim that a rank has. The compiler plans with this function, and the ranks use
// it too.
#ifndef SHARDCC_RT_SHARD_EXTENT_H
#define SHARDCC_RT_SHARD_EXTENT_H

#include <stdint.h>

// `extent` elements (maybe 0) from element `offset` on.
typedef struct RtShard {
    int64_t offset, extent;
} RtShard;

// Splits a shard with a capacity of `chunk` elements among `size` ranks and sets it to the shard of
// rank `at`. Returns the new chunk. All chunks have the same size, so the last shards may be short
// or empty.
static inline int64_t rt_shard_split(RtShard *p, int64_t chunk, int size, int at)
{
    chunk = (chunk + size - 1) / size;
    int64_t before = chunk * at < p->extent ? chunk * at : p->extent;

    p->offset += before;
    p->extent = p->extent - before < chunk ? p->extent - before : chunk;
    return chunk;
}

#endif
