// Convolutions as products of matrices, channels last: a row is a place, and of what lies under the
// window's taps a copy is made as it is packed.
//     y[place, o] = Σ x[under place's tap, c] · w[o, c, tap]
//     dx[place, c] = Σ dy[over place's tap, o] · w[o, c, tap]     windows that go by single places
//     dw[o, (tap, c)] = Σ dy[place, o] · x[under place's tap, c]
#ifndef SHARDCC_RT_CPU_CONV_MATRIX_H
#define SHARDCC_RT_CPU_CONV_MATRIX_H

#include "runtime/cpu/onednn.h"

// Is it one that this is the fastest way for?
bool rt_conv_matrix_fits(const RtConv *p, RtConvDirection direction);

// Prepares RtKernel.run. The result doesn't depend on the number of threads.
void rt_conv_matrix_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction);

#endif
