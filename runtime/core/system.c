// Memory, time and the program's folder, from the system.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/core.h"

void *rt_alloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (!p) {
        fprintf(stderr, "error: out of memory\n");
        exit(1);
    }
    return p;
}

double rt_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool rt_path_of(const RtModel *m, const char *ending, char *to, size_t capacity)
{
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    if (n < 0)
        return false;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (slash)
        slash[1] = 0;
    return (size_t)snprintf(to, capacity, "%s%s%s", exe, m->name, ending) < capacity;
}
