// Opens cuBLASLt. It is no part of the program, as it takes 500 MiB and has kernels for all GPUs.
#include "runtime/cuda/cublaslt.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/core.h"

// The toolkit that the program is built with.
#ifndef RT_CUDA_FOLDER
#define RT_CUDA_FOLDER "/usr/local/cuda"
#endif

static void *open_in(const char *folder)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, RT_LT_FILE);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// The library stays open until the program ends.
static void *open_file(const char *libraries)
{
    static const char *const folders[] = {RT_CUDA_FOLDER "/lib64", RT_CUDA_FOLDER "/lib"};

    if (libraries)
        return open_in(libraries);
    for (int i = 0; i < 2; i++) {
        void *file = open_in(folders[i]);
        if (file)
            return file;
    }
    return dlopen(RT_LT_FILE, RTLD_NOW | RTLD_LOCAL);
}

static void find_functions(RtCublasLt *lt, void *file)
{
#define FUNCTION(name) #name, offsetof(RtCublasLt, name)
    static const struct {
        const char *name;
        size_t at;
    } function[] = {{FUNCTION(cublasLtGetVersion)},
                    {FUNCTION(cublasLtGetStatusString)},
                    {FUNCTION(cublasLtCreate)},
                    {FUNCTION(cublasLtDestroy)},
                    {FUNCTION(cublasLtMatmulDescCreate)},
                    {FUNCTION(cublasLtMatmulDescDestroy)},
                    {FUNCTION(cublasLtMatmulDescSetAttribute)},
                    {FUNCTION(cublasLtMatrixLayoutCreate)},
                    {FUNCTION(cublasLtMatrixLayoutDestroy)},
                    {FUNCTION(cublasLtMatrixLayoutSetAttribute)},
                    {FUNCTION(cublasLtMatmulPreferenceCreate)},
                    {FUNCTION(cublasLtMatmulPreferenceDestroy)},
                    {FUNCTION(cublasLtMatmulPreferenceSetAttribute)},
                    {FUNCTION(cublasLtMatmulAlgoGetHeuristic)},
                    {FUNCTION(cublasLtMatmul)}};
#undef FUNCTION

    for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
        void *f = dlsym(file, function[i].name);
        if (!f) {
            fprintf(stderr, "error: cuBLASLt: %s\n", dlerror());
            exit(1);
        }
        *(void **)((char *)lt + function[i].at) = f;
    }
}

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

    void *file = open_file(libraries);
    if (!file) {
        fprintf(stderr, "error: cuBLASLt: %s; --libraries names its folder\n", dlerror());
        exit(1);
    }
    find_functions(lt, file);
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
