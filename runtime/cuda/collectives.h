// Exchanges between GPUs. All of a program's exchanges go to one stream, in its order, which is the
// same on all ranks; events join it to the stream of all other calls. What carries them out on that
// stream is another table of collectives.
#ifndef SHARDCC_RT_CUDA_COLLECTIVES_H
#define SHARDCC_RT_CUDA_COLLECTIVES_H

#include "runtime/collectives.h"
#include "runtime/cuda/progress.h"
#include "runtime/rt_cuda.h"

typedef struct RtCudaExchanges {
    const RtCollectives *by;
    void *state;          // of `by`
    struct RtNccl *nccl;  // opened; NULL: it isn't there, or nobody has looked for it
    RtSecondComm second;  // which counts the calls
    RtCudaProgress *progress;
    cudaStream_t stream;  // RtCuda.stream while `by` is called
    cudaEvent_t ready;    // the operands of the latest call
    cudaEvent_t ended;    // the latest call that wasn't started
    cudaEvent_t *slot;    // the latest call that was started in a slot
    int slots;            // 0: calls that are started are carried out where they start
} RtCudaExchanges;

// Through memory of the host that is pinned, by the collectives of messages: host_collectives.c.
extern const RtCollectives rt_cuda_host_collectives;
// By NCCL: nccl_collectives.c.
extern const RtCollectives rt_cuda_nccl_collectives;

// Copies `count` elements of so many bytes.
void rt_cuda_copy_row(Rt *rt, int bytes, int64_t count, void *y, const void *x);
RtCollective rt_cuda_shard, rt_cuda_keep_one;  // which need no other rank

// The bytes that a rank has of the operands of a call.
typedef struct RtExchangeBytes {
    int64_t x, y;
} RtExchangeBytes;
RtExchangeBytes rt_exchange_bytes(const RtExchange *p, RtExchangeKind kind, int ranks);

#endif
