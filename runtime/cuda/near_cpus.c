// Binds a rank to the CPUs near its GPU: what it copies to and from the GPU crosses no link between
// processors then.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/cuda/near_cpus.h"

// Reads a number at *text and moves it on. Returns -1 if there is none, or if a set can't hold it.
static int read_cpu(const char **text)
{
    int n = 0;

    if (!isdigit((unsigned char)**text))
        return -1;
    for (; isdigit((unsigned char)**text); ++*text)
        n = n < CPU_SETSIZE ? 10 * n + (**text - '0') : n;
    return n < CPU_SETSIZE ? n : -1;
}

bool rt_cpu_list(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (;; text++) {
        int first = read_cpu(&text), last = first;
        if (*text == '-') {
            text++;
            last = read_cpu(&text);
        }
        if (first < 0 || last < first)
            return false;
        for (int cpu = first; cpu <= last; cpu++)
            CPU_SET(cpu, set);
        if (*text != ',')
            return *text == 0 || *text == '\n';
    }
}

// The file of the kernel (sysfs-bus-pci, local_cpulist) that lists the CPUs near a device.
static bool read_near(const char *pci, cpu_set_t *near)
{
    char path[96], text[1024];
    FILE *f;

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/local_cpulist", pci);
    for (char *c = path; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    f = fopen(path, "re");
    bool ok = f && fgets(text, sizeof text, f) && rt_cpu_list(text, near);
    if (f)
        fclose(f);
    return ok;
}

void rt_cuda_bind_near(int gpu)
{
    char pci[32] = "";
    cpu_set_t near, own;

    if (cudaDeviceGetPCIBusId(pci, sizeof pci, gpu) || !read_near(pci, &near) ||
        sched_getaffinity(0, sizeof own, &own))
        return;
    CPU_AND(&near, &near, &own);
    if (CPU_COUNT(&near) > 0)
        sched_setaffinity(0, sizeof near, &near);
}
