// Compiles the text of kernels with the toolkit of CUDA.
#ifndef SHARDCC_GENERATOR_CUDA_BUILD_H
#define SHARDCC_GENERATOR_CUDA_BUILD_H

#include "generator/target_text.h"

// The fat binary's file, in the folder where the program is compiled.
#define IMAGE "kernels.fatbin"

bool build_kernels(Staging *s, const TargetText *t, const char *path, const Words *files,
                   const BuildOptions *o, Words *to, Diag *d);
void print_make_rule(const BuildOptions *o, Text *t);

#endif
