// Names of offsets in the arena, after the values there.
#ifndef SHARDCC_GENERATOR_OFFSET_NAMES_H
#define SHARDCC_GENERATOR_OFFSET_NAMES_H

#include "generator/internal.h"

// Finds the names of all offsets that items use. Call it before anything else is printed.
void find_offset_names(Gen *g);

// Declares the offsets whose names the text uses.
void generate_offsets(Gen *g, Text *t);

#endif
