// The CPUs near a GPU.
#ifndef SHARDCC_RT_NEAR_CPUS_H
#define SHARDCC_RT_NEAR_CPUS_H

#include <sched.h>

#include "runtime/cuda/cuda.h"

// Reads a list of CPUs as the kernel writes it: "0-3,8". Returns false if it is none.
bool rt_cpu_list(const char *text, cpu_set_t *set);
// Binds the calling thread, and threads that it starts, to those CPUs near the GPU that it may use.
// Does nothing where the kernel doesn't know them, or the thread may use none.
void rt_cuda_bind_near(int gpu);

#endif
