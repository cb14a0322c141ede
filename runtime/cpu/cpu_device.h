// The CPU as a device, which its files fill in.
#ifndef SHARDCC_RT_CPU_DEVICE_H
#define SHARDCC_RT_CPU_DEVICE_H

#include "runtime/device.h"

// ---- cpu_share.c, cpu_threads.c ----
RtShare rt_cpu_share(struct RtComm *c);
bool rt_cpu_start_threads(Rt *rt, const RtModel *m, RtShare share, int threads, bool pins);

#endif
