// Depthwise convolutions of halves with channels last, and their gradients.
#ifndef SHARDCC_RT_CPU_DEPTHWISE_HALVES_H
#define SHARDCC_RT_CPU_DEPTHWISE_HALVES_H

#include "runtime/cpu/onednn.h"

// Can this file compute that convolution?
bool rt_depthwise_halves_fits(const RtConv *p);

// Prepares RtKernel.run. The result doesn't depend on the number of threads.
void rt_depthwise_halves_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction);

#endif
