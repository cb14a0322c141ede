// The numbers of kernels' requests as products of named sizes.
#ifndef SHARDCC_GENERATOR_KERNEL_SIZES_H
#define SHARDCC_GENERATOR_KERNEL_SIZES_H

#include "generator/internal.h"

typedef struct KernelSizes KernelSizes;

// The sizes of a kernel's item; NULL: its numbers stay numbers.
const KernelSizes *find_kernel_sizes(Gen *g, const Item *it);

// Prints the number x at an offset in the parameters: "B * T".
void print_kernel_size(const KernelSizes *s, size_t at, int64_t x, Text *t);

#endif
