// Prints a fused group's call, and its function over a range of rows.
#ifndef SHARDCC_GENERATOR_CPU_GROUP_H
#define SHARDCC_GENERATOR_CPU_GROUP_H

#include "generator/internal.h"

// Prints the group's call and, unless g->groups has a function of the same text, its function.
void print_group(Gen *g, const Item *it, Text *t, int indent);

#endif
