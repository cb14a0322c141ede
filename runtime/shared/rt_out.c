// Files that are written to a temporary file and renamed when complete. The process that makes a
// temporary file holds its lock until the rename. So a temporary file that isn't locked was left by
// a killed process, on whatever host.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/rt_file.h"

static const char MADE[] = ".shardcc-", TEMP[] = ".tmp";  // name, MADE, process id, TEMP

bool rt_out_name(RtOut *o, const char *path, int64_t process, RtFileError *e)
{
    struct stat st;

    *o = (RtOut){.fd = -1};
    if (strlen(path) >= sizeof o->path)
        return rt_file_fail(e, "%s", strerror(ENAMETOOLONG));
    // If the path is a symbolic link, its target is replaced.
    char real[PATH_MAX];
    const char *target = realpath(path, real) && strlen(real) < sizeof o->path ? real : path;
    if (stat(target, &st) == 0 && !S_ISREG(st.st_mode))
        return rt_file_fail(e, "not a regular file");
    memcpy(o->path, target, strlen(target) + 1);
    snprintf(o->temp, sizeof o->temp, "%s%s%lld%s", o->path, MADE, (long long)process, TEMP);
    return true;
}

// The folder of the file, as a path that can be opened.
static void name_folder(const RtOut *o, char *to, size_t capacity)
{
    const char *slash = strrchr(o->path, '/');
    int n = slash ? (int)(slash - o->path) : 0;

    snprintf(to, capacity, "%.*s%s", n, o->path, !slash ? "." : n == 0 ? "/" : "");
}

// Is `name` the name of a temporary file of `base`?
static bool is_temp(const char *name, const char *base)
{
    size_t n = strlen(base);

    if (strncmp(name, base, n) != 0 || strncmp(name + n, MADE, sizeof MADE - 1) != 0)
        return false;
    const char *process = name + n + sizeof MADE - 1;
    size_t digits = strspn(process, "0123456789");
    return digits > 0 && strcmp(process + digits, TEMP) == 0;
}

// Removes the temporary files of killed processes for the same path.
static void clear_left(const RtOut *o)
{
    char path[sizeof o->path];
    const char *slash = strrchr(o->path, '/'), *base = slash ? slash + 1 : o->path;
    const struct dirent *entry;

    name_folder(o, path, sizeof path);
    DIR *folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        if (!is_temp(entry->d_name, base))
            continue;
        int fd =
            openat(dirfd(folder), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (folder)
        closedir(folder);
}

// Makes the file and locks it. In between, another process may have removed it as an abandoned one:
// then st_nlink is 0. If the file system has no locks, nothing removes it.
static bool make(RtOut *o)
{
    enum { TRIES = 3 };
    struct stat st;

    for (int i = 0; i < TRIES; i++) {
        unlink(o->temp);
        o->fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd < 0)
            return false;
        bool is_taken = flock(o->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!is_taken && fstat(o->fd, &st) == 0 && st.st_nlink > 0)
            return true;
        close(o->fd);
        o->fd = -1;
        errno = EBUSY;
    }
    return false;
}

bool rt_out_open(RtOut *o, const char *path, RtFileError *e)
{
    if (!rt_out_name(o, path, getpid(), e))
        return false;
    o->is_made = true;
    return make(o) || rt_file_fail(e, "%s", strerror(errno));
}

bool rt_out_try(const char *path, RtFileError *e)
{
    RtOut o;

    if (!rt_out_open(&o, path, e))
        return false;
    clear_left(&o);
    rt_out_cancel(&o);
    return true;
}

bool rt_out_join(RtOut *o, const char *path, int64_t process, RtFileError *e)
{
    if (!rt_out_name(o, path, process, e))
        return false;
    o->fd = open(o->temp, O_WRONLY | O_CLOEXEC);
    return o->fd >= 0 || rt_file_fail(e, "%s: %s", o->temp, strerror(errno));
}

// ---- writing ----

// If `around`, offset, size and memory are multiples of RT_OUT_BLOCK, and the page cache isn't used
// unless the file system refuses that.
static void write_part(RtOut *o, int64_t at, const char *p, size_t n, bool around)
{
    bool is_direct = around && !o->needs_cache && fcntl(o->fd, F_SETFL, O_DIRECT) == 0;

    while (n > 0 && !o->error) {
        ssize_t k = pwrite(o->fd, p, n < 1 << 30 ? n : 1 << 30, at);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno == EINVAL && is_direct) {
            o->needs_cache = true;
            is_direct = fcntl(o->fd, F_SETFL, 0) != 0;
            continue;
        }
        if (k <= 0) {
            o->error = k < 0 ? errno : ENOSPC;
            break;
        }
        p += k;
        at += k;
        n -= (size_t)k;
    }
    if (is_direct)
        fcntl(o->fd, F_SETFL, 0);
}

// Writes what is gathered: whole blocks of the file around the page cache.
static void write_gathered(RtOut *o)
{
    size_t begin = (size_t)(o->gathered_at % RT_OUT_BLOCK), end = begin + o->n_gathered;
    size_t first = begin ? RT_OUT_BLOCK : 0, last = end / RT_OUT_BLOCK * RT_OUT_BLOCK;
    int64_t at = o->gathered_at - (int64_t)begin;

    if (first >= last)
        first = last = begin;
    write_part(o, at + (int64_t)begin, o->gathered + begin, first - begin, false);
    write_part(o, at + (int64_t)first, o->gathered + first, last - first, true);
    write_part(o, at + (int64_t)last, o->gathered + last, end - last, false);
    o->n_gathered = 0;
}

void rt_out_gather(RtOut *o, char *buffer) { o->gathered = buffer; }

// Does the memory lie in its blocks as the bytes lie in those of the file?
static bool lies_as_in_file(const char *p, int64_t at)
{
    return ((uintptr_t)p - (uintptr_t)at) % RT_OUT_BLOCK == 0;
}

// Gathers up to n bytes; returns how many. Where many follow that lie as in the file, it gathers
// only those before their first whole block.
static size_t gather_part(RtOut *o, int64_t at, const char *p, size_t n)
{
    if (!o->n_gathered)
        o->gathered_at = at;
    // The offset in the buffer is the offset in the block.
    size_t to = (size_t)(o->gathered_at % RT_OUT_BLOCK) + o->n_gathered;
    size_t capacity = n >= RT_OUT_LONG && lies_as_in_file(p, at) ? RT_OUT_BLOCK - to % RT_OUT_BLOCK
                                                                 : RT_OUT_GATHERED - to;
    size_t part = n < capacity ? n : capacity;

    memcpy(o->gathered + to, p, part);
    o->n_gathered += part;
    if (to + part == RT_OUT_GATHERED)
        write_gathered(o);
    return part;
}

// Writes the bytes whose memory lies as in the file from where they are, the others through the
// buffer.
static void gather(RtOut *o, int64_t at, const char *p, size_t n)
{
    for (size_t part; n > 0; p += part, at += (int64_t)part, n -= part) {
        if (o->n_gathered && at != o->gathered_at + (int64_t)o->n_gathered)
            write_gathered(o);
        if (n < RT_OUT_LONG - RT_OUT_BLOCK || at % RT_OUT_BLOCK != 0 || !lies_as_in_file(p, at)) {
            part = gather_part(o, at, p, n);
            continue;
        }
        write_gathered(o);
        part = n / RT_OUT_BLOCK * RT_OUT_BLOCK;
        write_part(o, at, p, part, true);
    }
}

void rt_out_write_at(RtOut *o, int64_t at, const void *data, size_t n)
{
    if (o->gathered)
        gather(o, at, data, n);
    else
        write_part(o, at, data, n, false);
}

void rt_out_write(RtOut *o, const void *data, size_t n)
{
    rt_out_write_at(o, o->at, data, n);
    o->at += (int64_t)n;
}

// ---- ending ----

bool rt_sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);

    if (fd >= 0)
        close(fd);
    return ok;
}

// Makes the rename durable. The file is complete anyway, so failures are ignored.
static void sync_folder(const RtOut *o)
{
    char folder[sizeof o->path];

    name_folder(o, folder, sizeof folder);
    rt_sync_folder(folder);
}

void rt_out_cancel(RtOut *o)
{
    unlink(o->temp);
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
}

static bool fail_out(RtOut *o, RtFileError *e)
{
    rt_out_cancel(o);
    return rt_file_fail(e, "%s", strerror(o->error));
}

bool rt_out_finish(RtOut *o, RtFileError *e)
{
    if (o->n_gathered)
        write_gathered(o);
    if (!o->error && fsync(o->fd) != 0)
        o->error = errno;
    if (!o->is_made) {
        if (close(o->fd) != 0 && !o->error)
            o->error = errno;
        o->fd = -1;
    }
    return !o->error || fail_out(o, e);
}

bool rt_out_rename(RtOut *o, RtFileError *e)
{
    if (rename(o->temp, o->path) != 0) {
        o->error = errno;
        return fail_out(o, e);
    }
    close(o->fd);  // its bytes are on disk
    o->fd = -1;
    sync_folder(o);
    return true;
}

bool rt_out_commit(RtOut *o, RtFileError *e) { return rt_out_finish(o, e) && rt_out_rename(o, e); }

bool rt_out_whole(const char *path, const void *data, size_t n, RtFileError *e)
{
    RtOut o;

    if (!data)
        return rt_file_fail(e, "out of memory");
    if (!rt_out_open(&o, path, e))
        return false;
    rt_out_write(&o, data, n);
    return rt_out_commit(&o, e);
}

void rt_open_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}
