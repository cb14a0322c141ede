// Names of places in the arena, after what lies there.
#ifndef SHARDCC_GENERATOR_PLACE_NAMES_H
#define SHARDCC_GENERATOR_PLACE_NAMES_H

#include "generator/internal.h"

// Finds the names of all places that items use. Before anything else is printed.
void find_place_names(Gen *g);

// Declares the places whose names the text uses.
void generate_places(Gen *g, Text *t);

#endif
