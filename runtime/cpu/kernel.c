// Prepared kernels by number, and other small things that all kernels need.
#include <stdarg.h>
#include <stdio.h>

#include "runtime/cpu/internal.h"

int rt_type_bytes(RtType t)
{
    switch (t) {
    case RT_I8:
    case RT_U8:
    case RT_BOOL:
        return 1;
    case RT_F16:
    case RT_BF16:
    case RT_I16:
    case RT_U16:
        return 2;
    case RT_F64:
    case RT_I64:
    case RT_U64:
        return 8;
    default:
        return 4;
    }
}

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
