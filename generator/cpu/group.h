// Prints fused groups: functions over a range of rows, and their calls.
#ifndef SHARDCC_GENERATOR_CPU_GROUP_H
#define SHARDCC_GENERATOR_CPU_GROUP_H

#include "generator/internal.h"

// Makes the functions of the set's groups.
void make_functions(Gen *g);
// Names and prints those of both sets. After this calls can be printed.
void finish_functions(Gen *g);

// Prints the group's call.
void print_group(Gen *g, const Item *it, Text *t, int indent);

#endif
