// The micro-kernel of a CPU's matrix unit.
#ifndef SHARDCC_RT_CPU_AMX_H
#define SHARDCC_RT_CPU_AMX_H

#include "runtime/cpu/micro.h"

// For f32 and for bf16. NULL if this was compiled for a CPU without AMX, or if the operating system
// doesn't permit AMX.
const RtMicro *rt_micro_amx(void);
const RtMicro *rt_micro_amx_bf16(void);

#endif
