// Memory, time, the host and the program's folder, from the system.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

// FNV-1a, of Fowler, Noll and Vo (RFC 9923).
uint64_t rt_hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    h = h ? h : 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return h;
}

uint64_t rt_hash(uint64_t h, const char *text)
{
    return rt_hash_bytes(h, text, text ? strlen(text) : 0);
}

uint64_t rt_boot_number(void)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    char id[64] = "";
    bool is_known = f && fgets(id, sizeof id, f);

    if (f)
        fclose(f);
    return is_known ? rt_hash(0, id) : 0;
}

int64_t rt_namespace(const char *kind)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    return stat(path, &st) == 0 ? (int64_t)st.st_ino : 0;
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
