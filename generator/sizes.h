// Names of sizes: dims that are the same by the rules of the nodes that they go through.
#ifndef SHARDCC_GENERATOR_SIZES_H
#define SHARDCC_GENERATOR_SIZES_H

#include "generator/internal.h"

// Finds the sizes and names those whose role is known. All paths of modules must be known.
void find_sizes(Gen *g);

// Declares the sizes that the text uses.
void generate_sizes(Gen *g, Text *t);

#endif
