// Depthwise convolutions' weights' gradient with channels last. The library has a kernel for
// windows of 3 by 3 only, which is faster than this one; for others it goes through each channel on
// its own.
#ifndef SHARDCC_RT_CPU_DEPTHWISE_H
#define SHARDCC_RT_CPU_DEPTHWISE_H

#include "runtime/cpu/internal.h"

// Is it one that the functions below can do?
bool rt_depthwise_fits(const RtConv *p);

// The result doesn't depend on the number of threads.
void rt_depthwise_prepare(Rt *rt, int kernel, const RtConv *p);

#endif
