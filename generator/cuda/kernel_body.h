// Prints the bodies of fused groups' kernels.
#ifndef SHARDCC_GENERATOR_CUDA_KERNEL_BODY_H
#define SHARDCC_GENERATOR_CUDA_KERNEL_BODY_H

#include "generator/cuda/threads.h"

extern const ElementText cuda_elements;

// The pointer to operand k.
const char *pointer_name(const Body *b, int k);

// Appends the statements of the kernel, whose parameters are the pointers and what else is passed.
void print_kernel_body(Body *b);

#endif
