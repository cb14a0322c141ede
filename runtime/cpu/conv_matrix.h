// Convolutions with channels last as matrix products. A row of the matrix is a position; the
// elements under the window's taps are copied while the operand is packed (im2col).
//     y[place, o] = Σ x[under place's tap, c] · w[o, c, tap]
//     dx[place, c] = Σ dy[over place's tap, o] · w[o, c, tap]     windows of stride 1
//     dw[o, (tap, c)] = Σ dy[place, o] · x[under place's tap, c]
#ifndef SHARDCC_RT_CPU_CONV_MATRIX_H
#define SHARDCC_RT_CPU_CONV_MATRIX_H

#include "runtime/cpu/onednn.h"

// Is this the fastest implementation of that convolution?
bool rt_conv_matrix_fits(const RtConv *p, RtConvDirection direction);

// Prepares RtKernel.run. The result doesn't depend on the number of threads.
void rt_conv_matrix_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction);

#endif
