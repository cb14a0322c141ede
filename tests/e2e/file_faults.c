// Preloaded into a trainer, lets its FAULT_AT-th operation on files below FAULT_FOLDER go wrong:
// FAULT_HOW says how. "fail": it gives an error; "short": half of a write is done; "full": so it
// is, and the two operations after it find no space; "tear": half of a write is done, then the
// process is killed; "kill": the process is killed before it; "killed": after it. Of several ranks,
// that of FAULT_RANK alone. At the end the number of operations is written to FAULT_REPORT. A
// manifest that gets its name while a file that it lists has bytes which aren't on disk ends the
// process, with status 99.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DIRTY = 16 };

static int n_operations;
static char dirty[MAX_DIRTY][PATH_MAX];  // files with bytes that weren't synced

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool is_rank(void)
{
    const char *which = getenv("FAULT_RANK"), *own = getenv("OMPI_COMM_WORLD_RANK");

    return !which || (own && strcmp(which, own) == 0);
}

static bool is_below(const char *path)
{
    const char *folder = getenv("FAULT_FOLDER");

    return folder && is_rank() && strncmp(path, folder, strlen(folder)) == 0;
}

static const char *path_of(int fd, char path[PATH_MAX])
{
    char link[64];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = 0;
    return path;
}

static void end(void) { raise(SIGKILL); }

typedef enum Fate { FINE, FAILS, HALVES, HAS_NO_ROOM, TEARS, ENDS_AFTER } Fate;

// The next operation on that path.
static Fate next(const char *path)
{
    enum { WITHOUT_ROOM = 2 };
    static const struct {
        const char *name;
        Fate fate;
    } faults[] = {{"fail", FAILS}, {"short", HALVES}, {"full", HALVES}, {"tear", TEARS}};
    const char *how = getenv("FAULT_HOW"), *at = getenv("FAULT_AT");

    if (!is_below(path))
        return FINE;
    int after = ++n_operations - (at ? atoi(at) : 0);
    if (!how)
        return FINE;
    if (strcmp(how, "full") == 0 && after > 0 && after <= WITHOUT_ROOM)
        return HAS_NO_ROOM;
    if (after != 0)
        return FINE;
    if (strcmp(how, "kill") == 0)
        end();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(how, faults[i].name) == 0)
            return faults[i].fate;
    return ENDS_AFTER;
}

static bool is_failure(Fate fate)
{
    errno = fate == FAILS ? EIO : ENOSPC;
    return fate == FAILS || fate == HAS_NO_ROOM;
}

static bool is_end(Fate fate) { return fate == TEARS || fate == ENDS_AFTER; }

// The operations that aren't writes.
#define CARRY_OUT(path, call)                                                                      \
    do {                                                                                           \
        Fate fate = next(path);                                                                    \
        if (is_failure(fate))                                                                      \
            return -1;                                                                             \
        int result = call;                                                                         \
        if (is_end(fate))                                                                          \
            end();                                                                                 \
        return result;                                                                             \
    } while (0)

static void set_dirty(const char *path, bool is_dirty)
{
    int at = -1;

    for (int i = 0; i < MAX_DIRTY; i++)
        if (strcmp(dirty[i], is_dirty ? "" : path) == 0)
            at = i;
    for (int i = 0; i < MAX_DIRTY && is_dirty; i++)
        if (strcmp(dirty[i], path) == 0)
            return;
    if (at >= 0)
        snprintf(dirty[at], PATH_MAX, "%s", is_dirty ? path : "");
}

static ssize_t write_some(int fd, const void *data, size_t n, off_t at)
{
    char path[PATH_MAX];
    Fate fate = next(path_of(fd, path));

    if (is_failure(fate))
        return -1;
    if (is_below(path))
        set_dirty(path, true);
    size_t part = fate == TEARS || fate == HALVES ? n / 2 : n;
    ssize_t done = at < 0 ? NEXT(write)(fd, data, part) : NEXT(pwrite)(fd, data, part, at);
    if (is_end(fate))
        end();
    return done;
}

ssize_t write(int fd, const void *data, size_t n) { return write_some(fd, data, n, -1); }

ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return write_some(fd, data, n, at); }

int fsync(int fd)
{
    char path[PATH_MAX];
    Fate fate = next(path_of(fd, path));

    if (is_failure(fate))
        return -1;
    int result = NEXT(fsync)(fd);
    set_dirty(path, false);
    if (is_end(fate))
        end();
    return result;
}

int rename(const char *from, const char *to)
{
    const char *name = strrchr(to, '/');

    for (int i = 0; i < MAX_DIRTY && name && strcmp(name, "/MANIFEST") == 0; i++)
        if (dirty[i][0] && strncmp(dirty[i], to, (size_t)(name - to)) == 0)
            _exit(99);
    CARRY_OUT(to, NEXT(rename)(from, to));
}

int mkdir(const char *path, mode_t mode) { CARRY_OUT(path, NEXT(mkdir)(path, mode)); }

int rmdir(const char *path) { CARRY_OUT(path, NEXT(rmdir)(path)); }

int unlink(const char *path) { CARRY_OUT(path, NEXT(unlink)(path)); }

int unlinkat(int folder, const char *name, int flags)
{
    char path[PATH_MAX];

    CARRY_OUT(path_of(folder, path), NEXT(unlinkat)(folder, name, flags));
}

int ftruncate(int fd, off_t size)
{
    char path[PATH_MAX];

    CARRY_OUT(path_of(fd, path), NEXT(ftruncate)(fd, size));
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("FAULT_REPORT");
    FILE *f = path && is_rank() ? fopen(path, "w") : NULL;

    if (f) {
        fprintf(f, "%d\n", n_operations);
        fclose(f);
    }
}
