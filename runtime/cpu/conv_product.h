// The weight gradient of convolutions with channels last as a matrix product. It has a row for each
// channel and tap and a column for each output channel; it sums over samples and positions.
#ifndef SHARDCC_RT_CPU_CONV_PRODUCT_H
#define SHARDCC_RT_CPU_CONV_PRODUCT_H

#include "runtime/cpu/internal.h"

// Can this file compute that convolution, and faster than oneDNN?
bool rt_conv_product_fits(const RtConv *p);

// Prepares RtKernel.run. The result doesn't depend on the number of threads.
void rt_conv_product_prepare(Rt *rt, int kernel, const RtConv *p);

#endif
