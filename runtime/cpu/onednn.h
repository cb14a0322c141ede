// Convolutions by oneDNN: what the three directions share.
#ifndef SHARDCC_RT_CPU_ONEDNN_H
#define SHARDCC_RT_CPU_ONEDNN_H

#include "runtime/cpu/internal.h"

typedef enum RtConvDirection { RT_CONV, RT_CONV_INPUT_GRAD, RT_CONV_WEIGHT_GRAD } RtConvDirection;

// Prepares a convolution in the library's own layouts, with reorders from and to ours through the
// workspace, and RtKernel.run. Exits with a message if the library wants more than
// rt_conv_workspace.
void rt_conv_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction);

#endif
