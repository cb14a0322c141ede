// Prints a kernel's call, and its preparation.
#ifndef SHARDCC_GENERATOR_KERNEL_CALL_H
#define SHARDCC_GENERATOR_KERNEL_CALL_H

#include "generator/internal.h"

// A kernel that is prepared is called by a number. Requests of the same text share one.
void print_kernel(Gen *g, const Item *it, Text *t, int indent);

#endif
