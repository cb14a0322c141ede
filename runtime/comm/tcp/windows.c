// The shared windows of this host's ranks: files without a name, which nothing can leave over. A
// rank opens another one's by the number of its process and of the open file there (proc(5)).
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/comm/tcp/tcp.h"
#include "runtime/core/core.h"

static RtSharedWindow *map(int fd)
{
    void *p = mmap(NULL, sizeof(RtSharedWindow), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

bool rt_tcp_window_open(RtComm *c, RtTcpPeer *self)
{
    int fd = memfd_create("shardcc", MFD_CLOEXEC);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(RtSharedWindow));

    self->window = fd;
    if (!error)
        c->window[c->rank] = map(fd);
    if (!c->window[c->rank])
        return rt_error(c->model, "no space for %zu KiB of shared memory: %s",
                        sizeof(RtSharedWindow) >> 10, strerror(error ? error : errno));
    c->window[c->rank]->process = rt_process();
    return true;
}

// NULL: it can't be opened, as where processes don't see each other; then ranks send messages.
static RtSharedWindow *open_window(const RtTcpPeer *peer)
{
    char path[64];
    struct stat st;
    RtSharedWindow *w = NULL;

    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)peer->process, peer->window);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size == sizeof(RtSharedWindow))
        w = map(fd);
    if (fd >= 0)
        close(fd);
    return w;
}

void rt_tcp_windows_share(RtComm *c, const RtTcpPeer *peer)
{
    for (int r = 0; r < c->ranks; r++)
        if (r != c->rank && rt_tcp_is_near(&peer[r], &peer[c->rank]))
            c->window[r] = open_window(&peer[r]);
}

void rt_tcp_windows_close(RtComm *c)
{
    for (int r = 0; c->window && r < c->ranks; r++)
        if (c->window[r])
            munmap(c->window[r], sizeof(RtSharedWindow));
}
