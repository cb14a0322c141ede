// Compares our declarations of NCCL with NVIDIA's header: values, and members of structs.
// tests/cuda/nvcc_test compiles it where the header is found.
#include <nccl.h>

#include "runtime/cuda/nccl.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define SAME_MEMBER(ours, theirs) SAME(offsetof(RtNcclConfig, ours), offsetof(ncclConfig_t, theirs))

SAME(RT_NCCL_OLDEST, NCCL_VERSION(2, 19, 0));
SAME(RT_NCCL_SUCCESS, ncclSuccess);
SAME(RT_NCCL_UNHANDLED_CUDA_ERROR, ncclUnhandledCudaError);
SAME(RT_NCCL_IN_PROGRESS, ncclInProgress);
SAME(RT_NCCL_INT8, ncclInt8);
SAME(RT_NCCL_UINT8, ncclUint8);
SAME(RT_NCCL_INT32, ncclInt32);
SAME(RT_NCCL_UINT32, ncclUint32);
SAME(RT_NCCL_INT64, ncclInt64);
SAME(RT_NCCL_FLOAT16, ncclFloat16);
SAME(RT_NCCL_FLOAT32, ncclFloat32);
SAME(RT_NCCL_FLOAT64, ncclFloat64);
SAME(RT_NCCL_BFLOAT16, ncclBfloat16);
SAME(RT_NCCL_SUM, ncclSum);
SAME(RT_NCCL_MAX, ncclMax);
SAME(RT_NCCL_MIN, ncclMin);
SAME(INT_MIN, NCCL_CONFIG_UNDEF_INT);
SAME(sizeof(RtNcclId), sizeof(ncclUniqueId));
SAME_MEMBER(size, size);
SAME_MEMBER(magic, magic);
SAME_MEMBER(version, version);
SAME_MEMBER(blocking, blocking);
SAME_MEMBER(cluster_size, cgaClusterSize);
SAME_MEMBER(min_ctas, minCTAs);
SAME_MEMBER(max_ctas, maxCTAs);
SAME_MEMBER(net, netName);
SAME_MEMBER(split_share, splitShare);
SAME(sizeof(ncclResult_t), sizeof(int));
SAME(sizeof(ncclDataType_t), sizeof(int));
SAME(sizeof(ncclRedOp_t), sizeof(int));

static const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
_Static_assert(sizeof theirs >= sizeof(RtNcclConfig), "newer configs are larger");
