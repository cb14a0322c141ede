// Opens files that a model names. A model isn't trusted: its names may lead to regular files
// beneath its own folder and nowhere else.
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontend/internal.h"

// For systems without openat2 (Linux before 5.6): opens one component after the other; none may be
// a link.
static int open_by_steps(int folder, const char *path)
{
    int at = dup(folder);

    while (at >= 0) {
        char name[256];
        const char *slash = strchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) : strlen(path);
        int next = -1;
        if (n == 0 || n >= sizeof name || (n == 2 && !memcmp(path, "..", 2))) {
            errno = EXDEV;
        } else {
            memcpy(name, path, n);
            name[n] = 0;
            int kind = slash ? O_DIRECTORY | O_PATH : O_RDONLY | O_NONBLOCK;
            next = openat(at, name, kind | O_NOFOLLOW | O_CLOEXEC);
        }
        int error = errno;
        close(at);
        errno = error;
        if (!slash || next < 0)
            return next;
        at = next;
        path = slash + 1;
    }
    return -1;
}

static int open_relative(int folder, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);

    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_by_steps(folder, path) : fd;
}

static int open_folder(const char *model)
{
    const char *slash = strrchr(model, '/');
    Text t = {0};

    text_put(&t, slash ? model : ".", slash ? (size_t)(slash - model) + 1 : 1);
    int fd = open(t.s, O_DIRECTORY | O_PATH | O_CLOEXEC);
    text_free(&t);
    return fd;
}

int open_beneath(const char *model, const char *path, Diag *d)
{
    struct stat st;
    int folder = open_folder(model), fd = -1;

    if (folder >= 0) {
        fd = open_relative(folder, path);
        int error = errno;
        close(folder);
        errno = error;
    }
    if (fd < 0) {
        int error = errno;
        bool is_outside = error == EXDEV || error == ELOOP;
        diag_error(d, "external data '%.200s': %s", path,
                   is_outside ? "it is outside the model's folder" : strerror(error));
        errno = error;
        return -1;
    }
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1)
        return fd;
    diag_error(d, "external data '%.200s': it is not a regular file without hard links", path);
    close(fd);
    errno = EACCES;
    return -1;
}
