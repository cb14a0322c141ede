// Convolutions of halves, in all three directions, by convolutions of f32 with channels last: some
// samples at a time are widened, and the results are rounded.
#ifndef SHARDCC_RT_CPU_CONV_WIDENED_H
#define SHARDCC_RT_CPU_CONV_WIDENED_H

#include "runtime/cpu/floats.h"
#include "runtime/cpu/onednn.h"

// Prepares RtKernel.run. `prepare` prepares the convolution of f32: the kernel's own init. A
// gradient of weights is a sum of f32 over the samples, which is rounded once.
void rt_conv_widened_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction,
                             void (*prepare)(Rt *rt, int kernel, const RtConv *p));

#endif
