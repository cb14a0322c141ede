// What a fused group reads from beyond the caches, and what it writes that none holds until it is
// read again.
#ifndef SHARDCC_GENERATOR_STREAM_H
#define SHARDCC_GENERATOR_STREAM_H

#include "generator/element.h"

// Of rows longer than LONG so many neighbours are summed, or put, at once, and called for so many
// ahead: as far as memory needs to answer.
enum { RUN_ELEMENTS = 256, LONG_ROW_ELEMENTS = 1024, PREFETCH_ELEMENTS = 1024 };

// Finds Body.is_cold and Body.is_far. The rows of far results are lines that lie one after the
// other, not read again by later turns, and not in a cache already.
void find_streamed(Body *b);

// Has the turn being printed slow inputs: cold ones, and too much to compute to ask for them in
// time?
bool needs_prefetch(const Body *b);

// Has it far results?
bool has_streamed(const Body *b);

// Calls, where it has slow ones, for a line of each, AHEAD elements behind the line from b on.
// Later turns find it in a cache.
void print_prefetch(Body *b, int indent);

// Calls for a short row of cold inputs, AHEAD elements behind this one, where an operand is turned
// around: then the machine looks elsewhere.
void print_row_prefetch(Body *b, int indent);

// The arrays of far results.
void print_stream_buffers(Body *b);

// Puts those of this turn past the caches: `n` elements of each, from `from` on.
void print_stream_stores(Body *b, int indent, const char *from, const char *n);

#endif
