// Opens cuBLASLt. It is no part of the program, as it takes 500 MiB and has kernels for all GPUs.
#include "runtime/cuda/cublaslt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/cuda/open_library.h"

#define FUNCTION(name) RT_LIBRARY_FUNCTION(RtCublasLt, name)
static const RtLibraryFunction functions[] = {FUNCTION(cublasLtGetVersion),
                                              FUNCTION(cublasLtGetStatusString),
                                              FUNCTION(cublasLtCreate),
                                              FUNCTION(cublasLtDestroy),
                                              FUNCTION(cublasLtMatmulDescCreate),
                                              FUNCTION(cublasLtMatmulDescDestroy),
                                              FUNCTION(cublasLtMatmulDescSetAttribute),
                                              FUNCTION(cublasLtMatrixLayoutCreate),
                                              FUNCTION(cublasLtMatrixLayoutDestroy),
                                              FUNCTION(cublasLtMatrixLayoutSetAttribute),
                                              FUNCTION(cublasLtMatmulPreferenceCreate),
                                              FUNCTION(cublasLtMatmulPreferenceDestroy),
                                              FUNCTION(cublasLtMatmulPreferenceSetAttribute),
                                              FUNCTION(cublasLtMatmulAlgoGetHeuristic),
                                              FUNCTION(cublasLtMatmul)};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static void check_version(const RtCublasLt *lt)
{
    size_t v = lt->cublasLtGetVersion();  // 10000 major + 100 minor + patch

    if (v / 10000 == RT_LT_MAJOR)
        return;
    fprintf(stderr, "error: cuBLASLt is %zu.%zu, the program needs %d\n", v / 10000,
            v % 10000 / 100, RT_LT_MAJOR);
    exit(1);
}

RtCublasLt *rt_cublaslt_open(const char *libraries)
{
    RtCublasLt *lt = rt_alloc(1, sizeof *lt);

    if (!rt_open_library(libraries, RT_LT_FILE, functions, N_FUNCTIONS, lt)) {
        fprintf(stderr, "error: cuBLASLt: %s; --libraries names its folder\n", dlerror());
        exit(1);
    }
    check_version(lt);
    rt_cublaslt_must(lt, lt->cublasLtCreate(&lt->handle), "cuBLASLt");
    return lt;
}

void rt_cublaslt_close(RtCublasLt *lt)
{
    lt->cublasLtDestroy(lt->handle);
    free(lt);
}

void rt_cublaslt_must(const RtCublasLt *lt, int status, const char *what)
{
    if (status == RT_LT_SUCCESS)
        return;
    fprintf(stderr, "error: %s: %s (%d)\n", what, lt->cublasLtGetStatusString(status), status);
    exit(1);
}
