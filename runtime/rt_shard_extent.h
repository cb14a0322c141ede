// Which elements of a dim are a rank's: the compiler plans with it, and ranks find their own by it.
#ifndef SHARDCC_RT_SHARD_EXTENT_H
#define SHARDCC_RT_SHARD_EXTENT_H

#include <stdint.h>

// `extent` elements from `offset` on (maybe 0).
typedef struct RtShard {
    int64_t offset, extent;
} RtShard;

// Cuts a piece, for which `chunk` elements have room, once more, among `size` ranks in a row: the
// piece becomes that of the rank at place `at`. Returns what has room for it. Chunks are of one
// size, so the last pieces may be short or empty.
static inline int64_t rt_shard_split(RtShard *p, int64_t chunk, int size, int at)
{
    chunk = (chunk + size - 1) / size;
    int64_t before = chunk * at < p->extent ? chunk * at : p->extent;

    p->offset += before;
    p->extent = p->extent - before < chunk ? p->extent - before : chunk;
    return chunk;
}

#endif
