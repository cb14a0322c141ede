// How far the stream of exchanges has come. The GPU itself counts the collectives that have begun
// and ended, also when a recorded function is replayed; a thread of the host reads the numbers,
// knows the collectives' names, and ends the job if one doesn't end.
#ifndef SHARDCC_RT_CUDA_PROGRESS_H
#define SHARDCC_RT_CUDA_PROGRESS_H

#include "runtime/comm/transport.h"
#include "runtime/cuda/cuda.h"

typedef bool RtCudaFindError(const Rt *rt, char *why, size_t capacity);  // of RtCollectives

// Collectives that are ever put into the stream ahead of the GPU, at most: names of so many are
// kept.
enum { RT_CUDA_MAX_AHEAD = 1 << 16 };

// Starts the thread. `c` counts the collectives. `find_error` is called now and then; NULL: the
// host counts them, and waits for other ranks itself.
RtCudaProgress *rt_cuda_progress_open(const Rt *rt, RtComm *c, RtCudaFindError *find_error);
void rt_cuda_progress_close(RtCudaProgress *p);

// Before and after a collective, the comm's current call, is put into RtCuda.stream.
void rt_cuda_progress_begin(Rt *rt, RtCudaProgress *p);
void rt_cuda_progress_end(Rt *rt, RtCudaProgress *p);

// Collectives of a recorded function begin when it is replayed, not when it is recorded.
RtCudaFollower rt_cuda_progress_follower(RtCudaProgress *p);

#endif
