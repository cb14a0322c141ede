// Packs buffers with live ranges into one range of addresses: buffers that are live at the same
// time share no byte. It knows nothing of programs.
//
// Source: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning", ASPLOS 2023. search.c says what differs.
#ifndef SHARDCC_PACKER_H
#define SHARDCC_PACKER_H

#include "base/budget.h"

// A buffer is live at the times t with 0 <= lower <= t < upper. It needs `bytes` > 0. A pinned one
// has its offset already; pinned buffers share no byte while both are live.
typedef struct LiveBuffer {
    int64_t lower, upper, bytes;
    bool is_pinned;
    int64_t offset;  // of a pinned buffer
} LiveBuffer;

typedef struct PackOptions {
    // The bytes that there are: a packing that needs more is of no use, one that needs as many is
    // as good as any. 0: the fewer, the better.
    int64_t capacity;
    int64_t enough;  // a packing of so many bytes is as good as any; 0: only one at the bound
    // How much work the search may do, in words of its tables; so a run can be repeated exactly. 0:
    // there is no limit.
    int64_t effort;
    double time_limit;  // seconds; 0: none
    Budget *budget;     // counts the work; NULL: it isn't counted
} PackOptions;

typedef struct Packing {
    int64_t *offset;  // by buffer, in the caller's arena
    int64_t bytes;    // where the last buffer ends
    int64_t bound;    // no packing needs fewer bytes
} Packing;

// The largest sum of bytes that are live at the same time; 0 for no buffers.
int64_t pack_bound(const LiveBuffer *b, int n);

// Packs n buffers. The sum of all bytes must be below 2^62, and so must pinned offsets. Every
// offset is a sum of buffers' bytes and at most one pinned offset, so it keeps an alignment that
// all of these have. The same buffers in the same order and the same effort give the same offsets,
// unless the time limit or a pending signal ends the search. It always gives a packing: the best
// one found, even where that exceeds the capacity.
Packing pack(Arena *a, const LiveBuffer *b, int n, const PackOptions *o);

// ---- files of buffers (table.c) ----

enum { MAX_BUFFERS = 1 << 16 };  // of a file

// The lines of a file: first the names of the columns, then a buffer each. They are kept as they
// are, so that a file with offsets differs in nothing else.
typedef struct BufferTable {
    LiveBuffer *buffer;
    char **line;  // [n + 1]; line[0] is the head
    int n;
} BufferTable;

// Reads a file in the CSV form of google/minimalloc: the columns id, lower, upper and size in any
// order. Everything is in the arena. False after one error, which names its line.
bool buffer_table_read(Arena *a, const char *path, BufferTable *t, Diag *d);
bool buffer_table_parse(Arena *a, File f, BufferTable *t, Diag *d);

// Prints the table with one more column, the offsets.
void buffer_table_print(const BufferTable *t, const int64_t *offset, Text *to);

#endif
