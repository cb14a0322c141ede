// The weight gradient of depthwise convolutions with channels last. oneDNN has a kernel for windows
// of 3 by 3 only, which is faster than this one; for other windows it handles each channel alone.
#ifndef SHARDCC_RT_CPU_DEPTHWISE_H
#define SHARDCC_RT_CPU_DEPTHWISE_H

#include "runtime/cpu/internal.h"

// Can this file compute that convolution?
bool rt_depthwise_fits(const RtConv *p);

// Prepares RtKernel.run. The result doesn't depend on the number of threads.
void rt_depthwise_prepare(Rt *rt, int kernel, const RtConv *p);

#endif
