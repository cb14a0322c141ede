// Convolutions' weights' gradient with channels last as a matrix product: a row for each channel
// and tap, a column for each channel of the result, summed over samples and places.
#ifndef SHARDCC_RT_CPU_CONV_PRODUCT_H
#define SHARDCC_RT_CPU_CONV_PRODUCT_H

#include "runtime/cpu/internal.h"

// Is it one that the functions below can do, and faster than the library?
bool rt_conv_product_fits(const RtConv *p);

// The result doesn't depend on the number of threads.
void rt_conv_product_prepare(Rt *rt, int kernel, const RtConv *p);

#endif
