// Opens NVIDIA's libraries. They are no part of the program: cuBLASLt takes 500 MiB, and has
// kernels for all GPUs.
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "runtime/cuda/open_library.h"

// The toolkit that the program is built with.
#ifndef RT_CUDA_FOLDER
#define RT_CUDA_FOLDER "/usr/local/cuda"
#endif

static void *open_in(const char *folder, const char *file)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_file(const char *libraries, const char *file)
{
    static const char *const folders[] = {RT_CUDA_FOLDER "/lib64", RT_CUDA_FOLDER "/lib"};

    if (libraries)
        return open_in(libraries, file);
    for (int i = 0; i < 2; i++) {
        void *library = open_in(folders[i], file);
        if (library)
            return library;
    }
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

bool rt_open_library(const char *libraries, const char *file, const RtLibraryFunction *f, int n,
                     void *table)
{
    void *library = open_file(libraries, file);

    for (int i = 0; i < n && library; i++) {
        void *address = dlsym(library, f[i].name);
        if (!address)
            return false;
        *(void **)((char *)table + f[i].at) = address;
    }
    return library;
}
