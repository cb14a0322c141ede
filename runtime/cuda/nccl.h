// NCCL, opened when the program starts: the part of its ABI that exchanges need.
// tests/cuda/nccl_abi.c compares it with NVIDIA's header.
#ifndef SHARDCC_RT_NCCL_H
#define SHARDCC_RT_NCCL_H

#include <cuda_runtime_api.h>
#include <limits.h>
#include <stddef.h>

#include "runtime/rt_kernels.h"

// Versions are 10000 major + 100 minor + patch. The struct below is that of the oldest one; newer
// ones know by its size what it lacks.
enum { RT_NCCL_OLDEST = 21900 };
#define RT_NCCL_FILE "libnccl.so.2"

// ---- values ----

enum { RT_NCCL_SUCCESS = 0, RT_NCCL_UNHANDLED_CUDA_ERROR = 1, RT_NCCL_IN_PROGRESS = 7 };
enum { RT_NCCL_INT8 = 0, RT_NCCL_UINT8, RT_NCCL_INT32, RT_NCCL_UINT32, RT_NCCL_INT64 };
enum { RT_NCCL_FLOAT16 = 6, RT_NCCL_FLOAT32, RT_NCCL_FLOAT64, RT_NCCL_BFLOAT16 };
enum { RT_NCCL_SUM = 0, RT_NCCL_MAX = 2, RT_NCCL_MIN };

// ---- types ----

typedef struct RtNcclComm RtNcclComm;

typedef struct RtNcclId {
    char bytes[128];
} RtNcclId;

typedef struct RtNcclConfig {
    size_t size;
    unsigned magic, version;
    int blocking, cluster_size, min_ctas, max_ctas;  // INT_MIN: NCCL's choice
    const char *net;
    int split_share;  // communicators that are split off share their parent's memory
} RtNcclConfig;
#define RT_NCCL_CONFIG                                                                             \
    (RtNcclConfig)                                                                                 \
    {                                                                                              \
        .size = sizeof(RtNcclConfig), .magic = 0xcafebeef, .version = RT_NCCL_OLDEST,              \
        .cluster_size = INT_MIN, .min_ctas = INT_MIN, .max_ctas = INT_MIN, .split_share = 1        \
    }

// ---- functions: nccl.c; they return a status unless they say otherwise ----

typedef struct RtNccl {
    int (*ncclGetVersion)(int *version);
    const char *(*ncclGetErrorString)(int status);
    const char *(*ncclGetLastError)(RtNcclComm *c);
    int (*ncclGetUniqueId)(RtNcclId *id);
    int (*ncclCommInitRankConfig)(RtNcclComm **c, int ranks, RtNcclId id, int rank,
                                  RtNcclConfig *config);
    int (*ncclCommSplit)(RtNcclComm *c, int color, int key, RtNcclComm **to, RtNcclConfig *config);
    int (*ncclCommGetAsyncError)(RtNcclComm *c, int *status);
    int (*ncclCommFinalize)(RtNcclComm *c);
    int (*ncclCommDestroy)(RtNcclComm *c);
    int (*ncclCommAbort)(RtNcclComm *c);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    int (*ncclAllReduce)(const void *x, void *y, size_t count, int type, int op, RtNcclComm *c,
                         cudaStream_t stream);
    int (*ncclReduceScatter)(const void *x, void *y, size_t count, int type, int op, RtNcclComm *c,
                             cudaStream_t stream);
    int (*ncclAllGather)(const void *x, void *y, size_t count, int type, RtNcclComm *c,
                         cudaStream_t stream);
    int (*ncclSend)(const void *x, size_t count, int type, int peer, RtNcclComm *c,
                    cudaStream_t stream);
    int (*ncclRecv)(void *y, size_t count, int type, int peer, RtNcclComm *c, cudaStream_t stream);
    int version;
} RtNccl;

// Opens the library, in that folder (NULL: the toolkit's, or where the system finds it). Returns
// NULL if there is none, or an older one than RT_NCCL_OLDEST, and writes why.
RtNccl *rt_nccl_open(const char *libraries, char *why, size_t capacity);
// NCCL's type of elements that are added; -1: it has none, and the compiler refuses them.
int rt_nccl_type(RtType t);

#endif
