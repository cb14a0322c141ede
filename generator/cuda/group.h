// Prints fused groups as kernels, and their launches.
#ifndef SHARDCC_GENERATOR_CUDA_GROUP_H
#define SHARDCC_GENERATOR_CUDA_GROUP_H

#include "generator/internal.h"

// Makes the kernels of the set's groups.
void make_kernels(Gen *g);
// Names and prints those of both sets. After this launches can be printed.
void finish_kernels(Gen *g);

// Prints the group's launch.
void print_launch(Gen *g, const Item *it, Text *t, int indent);

#endif
