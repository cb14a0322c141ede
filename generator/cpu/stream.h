// Prefetches inputs of fused groups that must come from memory, and streams results past the caches
// that no cache would hold until they are read.
#ifndef SHARDCC_GENERATOR_CPU_STREAM_H
#define SHARDCC_GENERATOR_CPU_STREAM_H

#include "generator/group/element.h"

// All in elements. Rows longer than LONG_ROW_ELEMENTS are summed, or stored past the caches, in
// runs of RT_RUN_ELEMENTS.
enum { LONG_ROW_ELEMENTS = 1024 };

// How the loops of a CPU read and write operands: Body.own.
typedef struct CpuLoops {
    // By operand: 0, or the stride along the row of an operand that lies densely along the last dim
    // of the rows instead. It is transposed, some rows at a time, into an array of stride 1.
    int64_t *transposed;
    bool *is_prefetched;  // input: it must come from memory, not from a cache
    bool *is_streamed;    // result: it goes into an array first, and from there past the caches
    bool is_run;          // the loop is over elements from c on, not over a whole row
    bool is_line;         // the loop is over the lanes of a line, each with its own sums
} CpuLoops;

static inline CpuLoops *loops_of(const Body *b) { return b->own; }

// Sets CpuLoops.transposed: of operands whose row takes one element of each cache line, as the next
// rows need the same lines. They get stride 1 in the walk.
void find_transposed(Body *b);

// Sets CpuLoops.is_prefetched and CpuLoops.is_streamed. A streamed result has rows of whole,
// consecutive cache lines, is made in the last pass, and isn't in a cache already.
void find_streamed(Body *b);

// Does the pass being printed have prefetched inputs, and too much computation to load them in time
// without?
bool needs_prefetch(const Body *b);

// Does the pass being printed have streamed results?
bool has_streamed(const Body *b);

// Prefetches one line of each prefetched input, RT_AHEAD elements after element b. Later passes
// find it in a cache.
void print_prefetch(Body *b, int indent);

// Prefetches a short row of each such input, RT_AHEAD elements after this row, if the pass also
// transposes an operand: the hardware then doesn't prefetch by itself.
void print_row_prefetch(Body *b, int indent);

// Declares the arrays of streamed results.
void print_stream_buffers(Body *b);

// Stores this pass's streamed results past the caches: `n` elements of each, from `from` on.
void print_stream_stores(Body *b, int indent, const char *from, const char *n);

#endif
