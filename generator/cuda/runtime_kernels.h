// Prints which of the runtime's kernels a program needs.
#ifndef SHARDCC_GENERATOR_CUDA_RUNTIME_KERNELS_H
#define SHARDCC_GENERATOR_CUDA_RUNTIME_KERNELS_H

#include "generator/internal.h"

// Are the GPUs "sm_75,sm_90" new enough for the program's kernels? False after reporting that one
// of them isn't.
bool gpus_check(const Program *p, const char *gpus, Diag *d);

// The start of the text: the variants of the runtime's kernels, and the header of all kernels.
void print_variants(const Gen *g, Text *t);
// Its end: the files of these kernels.
void print_includes(const Gen *g, Text *t);

#endif
