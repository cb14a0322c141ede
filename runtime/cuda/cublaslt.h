// cuBLASLt, opened when the program starts: the part of its ABI that products need. Not every
// toolkit has its header; tests/cuda/cublaslt_abi.c compares this one with it.
#ifndef SHARDCC_RT_CUBLASLT_H
#define SHARDCC_RT_CUBLASLT_H

#include <cuda_runtime_api.h>

#include "runtime/rt_kernels.h"

enum { RT_LT_MAJOR = 13 };  // the version whose ABI this is
#define RT_LT_FILE "libcublasLt.so.13"

// ---- values ----

enum { RT_LT_SUCCESS = 0, RT_LT_INVALID_VALUE = 7 };
enum { RT_LT_EXECUTION_FAILED = 13, RT_LT_NOT_SUPPORTED = 15 };
// Types of elements and of sums. COMPUTE_TF32 rounds the factors of f32 to TF32.
enum { RT_LT_R_32F = 0, RT_LT_R_64F = 1, RT_LT_R_16F = 2, RT_LT_R_16BF = 14 };
enum { RT_LT_COMPUTE_32F = 68, RT_LT_COMPUTE_64F = 70, RT_LT_COMPUTE_TF32 = 77 };
enum { RT_LT_OP_N = 0, RT_LT_OP_T = 1 };
// Attributes, with the types of their values.
enum { RT_LT_TRANSA = 3, RT_LT_TRANSB = 4 };             // of products: int32_t
enum { RT_LT_BATCH_COUNT = 5, RT_LT_BATCH_STRIDE = 6 };  // of matrices: int32_t, int64_t
enum { RT_LT_MAX_WORKSPACE = 1, RT_LT_REDUCTIONS = 3 };  // of a search: uint64_t, uint32_t
enum { RT_LT_ALIGNMENT_A = 5, RT_LT_ALIGNMENT_D = 8 };   // uint32_t; those of B and C between
// How the parts of a long sum are added, as a mask: onto the result, or from the workspace by a
// kernel of its own, where they have the type of sums or that of the result. A sum in one part is
// always allowed.
enum { RT_LT_REDUCE_INPLACE = 1, RT_LT_REDUCE_COMPUTE_TYPE = 2, RT_LT_REDUCE_OUTPUT_TYPE = 4 };

// ---- types ----

typedef struct RtLtHandle RtLtHandle;
typedef struct RtLtProduct RtLtProduct;  // cublasLtMatmulDesc
typedef struct RtLtMatrix RtLtMatrix;    // cublasLtMatrixLayout
typedef struct RtLtSearch RtLtSearch;    // cublasLtMatmulPreference

typedef struct RtLtAlgorithm {
    uint64_t data[8];
} RtLtAlgorithm;

typedef struct RtLtFound {
    RtLtAlgorithm algorithm;
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
} RtLtFound;

// ---- functions ----

// The library, with its functions under its own names. Results of type int are a cublasStatus_t.
typedef struct RtCublasLt {
    RtLtHandle *handle;
    size_t (*cublasLtGetVersion)(void);
    const char *(*cublasLtGetStatusString)(int status);
    int (*cublasLtCreate)(RtLtHandle **handle);
    int (*cublasLtDestroy)(RtLtHandle *handle);
    int (*cublasLtMatmulDescCreate)(RtLtProduct **product, int compute, int scale);
    int (*cublasLtMatmulDescDestroy)(RtLtProduct *product);
    int (*cublasLtMatmulDescSetAttribute)(RtLtProduct *product, int attribute, const void *value,
                                          size_t bytes);
    int (*cublasLtMatrixLayoutCreate)(RtLtMatrix **matrix, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading);
    int (*cublasLtMatrixLayoutDestroy)(RtLtMatrix *matrix);
    int (*cublasLtMatrixLayoutSetAttribute)(RtLtMatrix *matrix, int attribute, const void *value,
                                            size_t bytes);
    int (*cublasLtMatmulPreferenceCreate)(RtLtSearch **search);
    int (*cublasLtMatmulPreferenceDestroy)(RtLtSearch *search);
    int (*cublasLtMatmulPreferenceSetAttribute)(RtLtSearch *search, int attribute,
                                                const void *value, size_t bytes);
    int (*cublasLtMatmulAlgoGetHeuristic)(RtLtHandle *handle, RtLtProduct *product, RtLtMatrix *a,
                                          RtLtMatrix *b, RtLtMatrix *c, RtLtMatrix *d,
                                          RtLtSearch *search, int most, RtLtFound *found, int *n);
    int (*cublasLtMatmul)(RtLtHandle *handle, RtLtProduct *product, const void *alpha,
                          const void *a, RtLtMatrix *a_matrix, const void *b, RtLtMatrix *b_matrix,
                          const void *beta, const void *c, RtLtMatrix *c_matrix, void *d,
                          RtLtMatrix *d_matrix, const RtLtAlgorithm *algorithm, void *workspace,
                          size_t workspace_bytes, cudaStream_t stream);
} RtCublasLt;

// Opens the library in the folder `libraries`; NULL: in the toolkit of the program's build or, if
// that is missing, where the system's loader finds it. Ends the program with a message if that
// fails.
RtCublasLt *rt_cublaslt_open(const char *libraries);
void rt_cublaslt_close(RtCublasLt *lt);
// Ends the program with a message if a call failed.
void rt_cublaslt_must(const RtCublasLt *lt, int status, const char *what);

#endif
