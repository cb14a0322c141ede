// The header of a trainer's text: its description (rt_model.h), the calls of its statements
// (rt_kernels.h), and the text of CPUs (rt_cpu.h).
#ifndef SHARDCC_RT_H
#define SHARDCC_RT_H

#include "rt_cpu.h"
#include "rt_kernels.h"
#include "rt_model.h"

#endif
