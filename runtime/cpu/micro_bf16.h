// The micro-kernel of instructions that multiply pairs of bf16.
#ifndef SHARDCC_RT_CPU_MICRO_BF16_H
#define SHARDCC_RT_CPU_MICRO_BF16_H

#include "runtime/cpu/micro.h"

// NULL if this was compiled for a CPU without AVX512-BF16.
const RtMicro *rt_micro_bf16(void);

#endif
