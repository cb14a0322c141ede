// What a fused group writes that no cache holds until it is read again.
#ifndef SHARDCC_GENERATOR_FAR_H
#define SHARDCC_GENERATOR_FAR_H

#include "generator/element.h"

enum { RUN = 512, LONG = 1024 };  // neighbours that are summed, or put, at once; of longer rows

// Finds Body.is_far. The rows of such results are lines that lie one after the other, not read
// again by later turns, and not in a cache already.
void find_far(Body *b);

// Has the turn being printed such results?
bool has_far(const Body *b);

// Their arrays.
void print_far(Body *b);

// Puts those of this turn past the caches: `n` elements of each, from `from` on.
void print_puts(Body *b, int indent, const char *from, const char *n);

#endif
