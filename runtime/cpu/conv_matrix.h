// Convolutions with channels last as matrix products. A row of the matrix is a position; the
// elements under the window's taps are copied while the operand is packed (im2col).
//     y[i, o] = Σ x[under the tap at i, c] · w[o, c, tap]
//     dx[i, c] = Σ dy[over the tap at i, o] · w[o, c, tap]     windows of stride 1
//     dw[o, (tap, c)] = Σ dy[i, o] · x[under the tap at i, c]
#ifndef SHARDCC_RT_CPU_CONV_MATRIX_H
#define SHARDCC_RT_CPU_CONV_MATRIX_H

#include "runtime/cpu/onednn.h"

// Is this the fastest implementation of that convolution?
bool rt_conv_matrix_fits(const RtConv *p, RtConvDirection direction);

// Prepares RtKernel.run. The result doesn't depend on the number of threads.
void rt_conv_matrix_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction);

#endif
