// The runtime's elementwise functions, for kernels: the same bits as on CPUs.
#ifndef SHARDCC_RT_CUDA_MATH_CUH
#define SHARDCC_RT_CUDA_MATH_CUH

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// The headers say `inline` alone; nvcc also needs to be told that kernels call the functions.
#ifdef __CUDACC__
#define inline __host__ __device__ inline
#endif
#include "runtime/rt_math.h"
#ifdef __CUDACC__
#undef inline
#endif

#endif
