// Convolutions by oneDNN, in all three directions.
#ifndef SHARDCC_RT_CPU_ONEDNN_H
#define SHARDCC_RT_CPU_ONEDNN_H

#include "runtime/cpu/internal.h"

typedef enum RtConvDirection { RT_CONV, RT_CONV_INPUT_GRAD, RT_CONV_WEIGHT_GRAD } RtConvDirection;

// Prepares RtKernel.run for a convolution in oneDNN's own layouts; reorders from and to ours go
// through the workspace. Exits with a message if the library needs more than rt_conv_workspace.
void rt_conv_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction);

#endif
