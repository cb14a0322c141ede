// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of a file of which each process knows some parts.
//
// Without its first and last step, a CRC is linear: a file's checksum is the exclusive or of its
// parts' checksums, each with zeros instead of the others. So ranks checksum what they write or
// read, whatever the mesh, and nobody needs the whole file.
#ifndef SHARDCC_RT_CHECKSUM_H
#define SHARDCC_RT_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The parts that a process knows. {0} are none.
typedef struct RtChecksum {
    uint32_t sum;
    int64_t at;     // the end of the last part
    int64_t moved;  // the zeros that `table` appends; 0: it isn't made
    uint32_t table[4][256];
    bool is_asked, has_words;  // can the processor add words?
    bool has_lane;             // is `lane` made?
    uint32_t lane[4][256];     // appends as many zeros as a lane of rt_checksum.c has bytes
} RtChecksum;

// Adds the n bytes at `at` of the file, which is no less than the end of the part before.
void rt_checksum_add(RtChecksum *c, int64_t at, const void *data, size_t n);
// The sum of a process's parts of a file of `size` bytes.
uint32_t rt_checksum_parts(RtChecksum *c, int64_t size);
// The CRC-32C of a file: `sum` is the exclusive or of the sums of all its parts.
uint32_t rt_checksum_whole(uint32_t sum, int64_t size);

#endif
