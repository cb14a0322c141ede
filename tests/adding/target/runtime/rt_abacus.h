// The header of the text of an abacus's trainer.
#ifndef SHARDCC_RT_ABACUS_H
#define SHARDCC_RT_ABACUS_H

#include "rt_cpu.h"
#include "rt_kernels.h"
#include "rt_model.h"

extern const RtDevice rt_abacus;

#endif
