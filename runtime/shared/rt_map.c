// Maps files for reading. Another process may truncate a file while it is mapped. Then the rest of
// its last page reads as zeros, and later pages raise SIGBUS. The handler maps zeros there and sets
// a flag; rt_map_check detects both cases before anyone uses the bytes. Shared memory is a file
// too, whose file system may be full.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/rt_file.h"

struct RtGuard {
    RtGuard *next;
    uintptr_t start, end;  // of whole pages
    int fd, access;
    atomic_bool is_lost;  // some of the pages were replaced by zeros
};

// Globals, because a signal handler gets no other data: all maps, and the action of SIGBUS before
// the first map.
static _Atomic(RtGuard *) guards;
static struct sigaction before;

static void put_zeros(int signal, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int error = errno;

    for (RtGuard *g = guards; g; g = g->next) {
        if (at < g->start || at >= g->end)
            continue;
        uintptr_t from = at / page * page;
        void *zeros = mmap((void *)from, g->end - from, g->access,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        g->is_lost = true;
        errno = error;
        if (zeros != MAP_FAILED)
            return;
    }
    sigaction(SIGBUS, &before, NULL);  // the access faults again, with the old action
}

static void guard(RtGuard *g, const void *data, size_t size, int fd, int access)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)data;

    *g = (RtGuard){.next = guards,
                   .start = start / page * page,
                   .end = (start + size + page - 1) / page * page,
                   .fd = fd,
                   .access = access};
    if (!guards) {
        struct sigaction action = {.sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO};
        sigemptyset(&action.sa_mask);
        sigaction(SIGBUS, &action, &before);
    }
    guards = g;
}

static void unguard(RtGuard *g)
{
    if (g == guards) {
        guards = g->next;
    } else {
        RtGuard *other = guards;
        while (other->next != g)
            other = other->next;
        other->next = g->next;
    }
    if (!guards)
        sigaction(SIGBUS, &before, NULL);
}

bool rt_clear_shared(void *p, size_t n)
{
    RtGuard g;

    guard(&g, p, n, -1, PROT_READ | PROT_WRITE);
    memset(p, 0, n);
    unguard(&g);
    return !g.is_lost;
}

bool rt_map_open(RtMap *m, int fd, RtFileError *e)
{
    struct stat st;

    *m = (RtMap){0};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return rt_file_fail(e, "not a regular file");
    }
    if (st.st_size == 0) {
        close(fd);
        return true;
    }
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
        rt_file_fail(e, "%s", strerror(errno));
        close(fd);
        return false;
    }
    *m = (RtMap){p, (size_t)st.st_size, malloc(sizeof *m->guard)};
    if (m->guard) {
        guard(m->guard, m->data, m->size, fd, PROT_READ);
        return true;
    }
    munmap(p, m->size);
    close(fd);
    *m = (RtMap){0};
    return rt_file_fail(e, "out of memory");
}

bool rt_map(RtMap *m, const char *path, RtFileError *e)
{
    // O_NONBLOCK: doesn't wait for a writer if the path is a pipe.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *m = (RtMap){0};
    return fd >= 0 ? rt_map_open(m, fd, e) : rt_file_fail(e, "%s", strerror(errno));
}

bool rt_map_check(const RtMap *m, RtFileError *e)
{
    struct stat st;

    if (!m->guard)
        return true;
    if (fstat(m->guard->fd, &st) == 0 && st.st_size < (off_t)m->size)
        return rt_file_fail(e, "it was cut short while it was read: %lld of %zu bytes are left",
                            (long long)st.st_size, m->size);
    return !m->guard->is_lost ||
           rt_file_fail(
               e, "bytes of it can't be read: it was cut short for a while, or its disk fails");
}

void rt_unmap(RtMap *m)
{
    if (m->guard) {
        unguard(m->guard);
        close(m->guard->fd);
        free(m->guard);
    }
    if (m->size > 0)
        munmap((void *)m->data, m->size);
    *m = (RtMap){0};
}
