// The weights' gradient of a convolution with a window of one place at every place, channels last:
// a product of two matrices as they lie, dw[o, c] = Σ dy[place, o] · x[place, c].
#ifndef SHARDCC_RT_CPU_CONV_MATRIX_H
#define SHARDCC_RT_CPU_CONV_MATRIX_H

#include "runtime/cpu/internal.h"

// Is it one with more channels in x, whose rows are then read in long pieces? Of the others
// conv_product.h makes more.
bool rt_conv_matrix_fits(const RtConv *p);

// The result doesn't depend on the number of threads.
void rt_conv_matrix_prepare(Rt *rt, int kernel, const RtConv *p);
void rt_conv_matrix_run(Rt *rt, int kernel, float *dw, const float *x, const float *dy);

#endif
