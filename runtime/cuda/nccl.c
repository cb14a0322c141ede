// Opens NCCL.
#include "runtime/cuda/nccl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/cuda/open_library.h"

#define FUNCTION(name) RT_LIBRARY_FUNCTION(RtNccl, name)
static const RtLibraryFunction functions[] = {FUNCTION(ncclGetVersion),
                                              FUNCTION(ncclGetErrorString),
                                              FUNCTION(ncclGetLastError),
                                              FUNCTION(ncclGetUniqueId),
                                              FUNCTION(ncclCommInitRankConfig),
                                              FUNCTION(ncclCommSplit),
                                              FUNCTION(ncclCommGetAsyncError),
                                              FUNCTION(ncclCommFinalize),
                                              FUNCTION(ncclCommDestroy),
                                              FUNCTION(ncclCommAbort),
                                              FUNCTION(ncclGroupStart),
                                              FUNCTION(ncclGroupEnd),
                                              FUNCTION(ncclAllReduce),
                                              FUNCTION(ncclReduceScatter),
                                              FUNCTION(ncclAllGather),
                                              FUNCTION(ncclSend),
                                              FUNCTION(ncclRecv)};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

RtNccl *rt_nccl_open(const char *libraries, char *why, size_t capacity)
{
    RtNccl *nccl = rt_alloc(1, sizeof *nccl);
    bool is_open = rt_open_library(libraries, RT_NCCL_FILE, functions, N_FUNCTIONS, nccl);

    if (!is_open)
        snprintf(why, capacity, "%s; --libraries names its folder", dlerror());
    else if (nccl->ncclGetVersion(&nccl->version) || nccl->version < RT_NCCL_OLDEST)
        snprintf(why, capacity, "version %d.%d is too old, 2.19 is needed", nccl->version / 10000,
                 nccl->version % 10000 / 100);
    else
        return nccl;
    free(nccl);
    return NULL;
}

int rt_nccl_type(RtType t)
{
    switch (t) {
    case RT_F32:
        return RT_NCCL_FLOAT32;
    case RT_F64:
        return RT_NCCL_FLOAT64;
    case RT_F16:
        return RT_NCCL_FLOAT16;
    case RT_BF16:
        return RT_NCCL_BFLOAT16;
    case RT_I8:
        return RT_NCCL_INT8;
    case RT_I32:
        return RT_NCCL_INT32;
    case RT_I64:
    case RT_U64:
        return RT_NCCL_INT64;
    case RT_U8:
    case RT_BOOL:
        return RT_NCCL_UINT8;
    case RT_U32:
        return RT_NCCL_UINT32;
    default:
        return -1;
    }
}
