// Boxes of bytes: parts of a tensor, packed into one row of bytes for a message.
#ifndef SHARDCC_RT_BOX_H
#define SHARDCC_RT_BOX_H

#include "runtime/rt_sizes.h"
#include "runtime/rt_workspace.h"

// Rows of `length` bytes, `stride` bytes apart along each of `dim`; the last dim is the fastest.
typedef struct RtBox {
    char *at;
    int64_t dim[3], stride[3], length;
} RtBox;

int64_t rt_box_bytes(const RtBox *b);
// Returns a box of the same bytes with the longest possible rows.
RtBox rt_box_merged(const RtBox *b);
// Is a merged box a single row?
bool rt_box_is_row(const RtBox *b);
// Copies bytes [first, last) of a box, in the box's order, to or from a row of bytes. `last` may
// exceed the box.
void rt_box_pack(const Rt *rt, char *to, const RtBox *b, int64_t first, int64_t last);
void rt_box_unpack(const Rt *rt, const RtBox *b, int64_t first, int64_t last, const char *from);
// Copies a whole box to another one with the same dims.
void rt_box_copy(const Rt *rt, const RtBox *to, const RtBox *from);

#endif
