// The micro-kernel of a CPU's matrix unit.
#ifndef SHARDCC_RT_CPU_AMX_H
#define SHARDCC_RT_CPU_AMX_H

#include "runtime/cpu/micro.h"

// NULL if this was compiled for a CPU without AMX, or if the operating system doesn't permit AMX.
const RtMicro *rt_micro_amx(void);

// Is a product of m by k and k by n large enough to fill the tiles?
bool rt_amx_fits(int64_t m, int64_t n, int64_t k);

#endif
