// Names of sizes: dims that are the same by the rules of the nodes that they go through.
#ifndef SHARDCC_GENERATOR_SIZES_H
#define SHARDCC_GENERATOR_SIZES_H

#include "generator/internal.h"

// Finds the sizes and names those whose role is known. All paths of modules must be known.
void find_sizes(Gen *g);

// The number of the name of a dim of a value of the set being printed; 0: it has none. Of a shard
// *parts is how many chunks the named size has.
int named_dim(Gen *g, ValueId v, int i, int64_t *parts);
// A name by its number, which the text uses.
const char *size_text(Gen *g, int named);

// The dims that lie within dim i, if these have as many elements as its stride; else false.
bool find_inner(int rank, const int64_t *dim, const int64_t *stride, int i, uint32_t *inner);

// Declares the sizes that the text uses.
void generate_sizes(Gen *g, Text *t);

#endif
