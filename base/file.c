// Files: maps input files into memory and replaces output files as a whole.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_map(const char *path, File *f, Diag *d)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a FIFO must not block

    *f = (File){0};
    if (fd < 0 || fstat(fd, &s)) {
        diag_error(d, "cannot read '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (!S_ISREG(s.st_mode)) {
        diag_error(d, "cannot read '%s': not a regular file", path);
        close(fd);
        return false;
    }
    f->data = (const uint8_t *)"";
    f->size = (size_t)s.st_size;
    void *data = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    int error = errno;
    close(fd);
    if (data == MAP_FAILED) {
        diag_error(d, "cannot read '%s': %s", path, strerror(error));
        *f = (File){0};
        return false;
    }
    if (data)
        f->data = data;
    return true;
}

void file_unmap(File *f)
{
    if (f->size)
        munmap((void *)(uintptr_t)f->data, f->size);
    *f = (File){0};
}

static void out_clear(OutFile *o)
{
    free(o->path);
    free(o->temp);
    *o = (OutFile){0};
}

bool out_open(OutFile *o, const char *path, Diag *d)
{
    struct stat s;
    bool is_link = !lstat(path, &s) && S_ISLNK(s.st_mode);
    int fd = -1;

    *o = (OutFile){0};
    // A symbolic link stays; its target is replaced.
    o->path = is_link ? realpath(path, NULL) : strdup(path);
    // Devices such as /dev/stdout must not be renamed over.
    if (!o->path || (!stat(o->path, &s) && !S_ISREG(s.st_mode))) {
        diag_error(d, "cannot write '%s': not a regular file", path);
        out_clear(o);
        return false;
    }
    // O_EXCL follows no symbolic link at the temporary name. The loop skips names that killed runs
    // left over.
    for (int i = 0; i < 100 && fd < 0; i++) {
        Text temp = {0};
        text_printf(&temp, "%s.%ld-%d.part", o->path, (long)getpid(), i);
        fd = open(temp.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            o->temp = temp.s;
        else
            text_free(&temp);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    o->f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (o->f)
        return true;
    diag_error(d, "cannot write '%s': %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(o->temp);
    }
    out_clear(o);
    return false;
}

bool out_commit(OutFile *o, Diag *d)
{
    bool failed = fflush(o->f) || ferror(o->f);
    int error = errno;

    if (fclose(o->f) && !failed) {
        failed = true;
        error = errno;
    }
    if (!failed && rename(o->temp, o->path)) {
        failed = true;
        error = errno;
    }
    if (failed) {
        diag_error(d, "cannot write '%s': %s", o->path, strerror(error));
        unlink(o->temp);
    }
    out_clear(o);
    return !failed;
}

void out_cancel(OutFile *o)
{
    if (!o->f)
        return;
    fclose(o->f);
    unlink(o->temp);
    out_clear(o);
}

bool out_write(const char *path, const char *s, size_t n, Diag *d)
{
    OutFile o;

    if (!out_open(&o, path, d))
        return false;
    fwrite(s, 1, n, o.f);  // out_commit checks for errors
    return out_commit(&o, d);
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *folder_name(Arena *a, const char *path)
{
    size_t n = (size_t)(base_name(path) - path);

    return n ? arena_copy(a, path, n > 1 ? n - 1 : n) : arena_copy(a, ".", 1);
}

bool is_same_file(const char *a, const char *b)
{
    struct stat s, t;

    return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

bool out_spares(const Strings *written, const char *file, const char *what, Diag *d)
{
    for (int i = 0; i < written->n; i++)
        if (is_same_file(written->s[i], file)) {
            diag_error(d, "cannot write '%s': it is %s", written->s[i], what);
            return false;
        }
    return true;
}
