// Parts of a tensor as boxes of bytes, and their bytes in a row: what messages are made of.
#ifndef SHARDCC_RT_CPU_BOX_H
#define SHARDCC_RT_CPU_BOX_H

#include "runtime/cpu/internal.h"

// Rows of `length` bytes, `stride` bytes apart along each of `dim`, the last one being the fastest.
typedef struct RtBox {
    char *at;
    int64_t dim[3], stride[3], length;
} RtBox;

int64_t rt_box_bytes(const RtBox *b);
// The same bytes in rows as long as can be.
RtBox rt_box_merged(const RtBox *b);
// Are all bytes of a merged box in one row?
bool rt_box_is_row(const RtBox *b);
// Bytes [first, last) of a box in their order, to and from a row; cut short where the box ends.
void rt_box_pack(const Rt *rt, char *to, const RtBox *b, int64_t first, int64_t last);
void rt_box_unpack(const Rt *rt, const RtBox *b, int64_t first, int64_t last, const char *from);
// All of a box to another with the same dims, of elements of `bytes`.
void rt_box_copy(Rt *rt, const RtBox *to, const RtBox *from, int bytes);

#endif
