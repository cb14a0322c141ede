// Stores prepared kernels by number.
#include <stdarg.h>
#include <stdio.h>

#include "runtime/cpu/internal.h"

void *rt_kernel_new(Rt *rt, int kernel, size_t size)
{
    RtKernel *k = calloc(1, size);

    if (!k)
        rt_kernel_fail(kernel, "kernel", "out of memory");
    rt->kernel[kernel] = k;
    return k;
}

void rt_kernel_fail(int kernel, const char *name, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fprintf(stderr, "error: %s (kernel %d): ", name, kernel);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

void rt_kernels_free(Rt *rt, int n)
{
    for (int i = 0; i < n; i++) {
        RtKernel *k = rt->kernel[i];

        if (k && k->release)
            k->release(k);
        free(k);
        rt->kernel[i] = NULL;
    }
}
