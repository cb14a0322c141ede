// Makes a staging folder, in which results are written before they are moved to their target.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/generator.h"

// mkdtemp gives the staging folder a new name. The mark in it tells it from a user's folder of a
// similar name.
static const char prefix[] = ".shardcc-", mark[] = ".shardcc-stage";
enum { RANDOM_LETTERS = 6 };

// ---- the lock ----
// The kernel releases the lock however its owner ends. A staging folder without a lock is
// abandoned.

static int lock(const char *folder, int how)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && flock(fd, how)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
    return remove(path);
}

static void remove_all(const char *folder) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

// Is it the lock of a staging folder of this user?
static bool is_staging(int fd)
{
    struct stat s, m;

    return !fstat(fd, &s) && s.st_uid == geteuid() && !fstatat(fd, mark, &m, AT_SYMLINK_NOFOLLOW) &&
           S_ISREG(m.st_mode) && m.st_size == 0;
}

// Removes the staging folders that killed programs of this user left in `target`.
static void remove_old(Arena *a, const char *target)
{
    DIR *dir = opendir(target);

    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, prefix, sizeof prefix - 1) ||
            strlen(e->d_name) != sizeof prefix - 1 + RANDOM_LETTERS)
            continue;
        char *folder = arena_string(a, "%s/%s", target, e->d_name);
        int fd = lock(folder, LOCK_EX | LOCK_NB);
        if (fd >= 0 && is_staging(fd))
            remove_all(folder);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

// ---- staging folders ----

// Makes the folder, takes its lock, and only then marks it: so no other program takes it for an
// abandoned one.
static bool make(Staging *s)
{
    s->folder = arena_string(s->arena, "%s/%sXXXXXX", s->target, prefix);
    if (!mkdtemp(s->folder))
        return false;
    s->lock = lock(s->folder, LOCK_EX);
    int fd = open(arena_string(s->arena, "%s/%s", s->folder, mark),
                  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int error = errno;
    if (fd >= 0)
        close(fd);
    else
        rmdir(s->folder);
    errno = error;
    return fd >= 0;
}

bool staging_open(Arena *a, Staging *s, const char *target, Diag *d)
{
    *s = (Staging){.arena = a, .target = target, .lock = -1};
    signals_block(&s->hold);
    remove_old(a, target);
    if (make(s))
        return true;
    diag_error(d, "cannot write into '%s': %s", target, strerror(errno));
    if (s->lock >= 0)
        close(s->lock);
    signals_unblock(&s->hold);
    return false;
}

const char *staging_file(Staging *s, const char *name)
{
    *arena_push(s->arena, s->name, s->n, s->cap) = name;
    return arena_string(s->arena, "%s/%s", s->folder, name);
}

const char *staging_folder(Staging *s, const char *name, Diag *d)
{
    const char *path = staging_file(s, arena_string(s->arena, "%s/", name));

    if (!mkdir(path, 0777))
        return path;
    diag_error(d, "cannot make the folder '%s': %s", path, strerror(errno));
    return NULL;
}

static bool is_folder(const char *name) { return name[strlen(name) - 1] == '/'; }

// Can `from` be moved to `to`? All files are checked before any is moved.
static bool can_move(const char *name, const char *from, const char *to, Diag *d)
{
    struct stat s;

    if (lstat(from, &s))
        diag_error(d, "'%s' was not made: %s", to, strerror(errno));
    else if (!is_folder(name) && !S_ISREG(s.st_mode))
        diag_error(d, "'%s' was not made: it is not a regular file", to);
    else if (!lstat(to, &s) && S_ISDIR(s.st_mode) != is_folder(name))
        diag_error(d, "cannot write '%s': %s", to, strerror(is_folder(name) ? ENOTDIR : EISDIR));
    else
        return true;
    return false;
}

static bool move(const char *name, const char *from, const char *to, Diag *d)
{
    if (is_folder(name) ? !mkdir(to, 0777) || errno == EEXIST : !rename(from, to))
        return true;
    diag_error(d, "cannot write '%s': %s", to, strerror(errno));
    return false;
}

static bool for_all(const Staging *s, bool (*f)(const char *, const char *, const char *, Diag *),
                    Diag *d)
{
    bool ok = true;

    for (int i = 0; i < s->n && ok; i++)
        ok = f(s->name[i], arena_string(s->arena, "%s/%s", s->folder, s->name[i]),
               arena_string(s->arena, "%s/%s", s->target, s->name[i]), d);
    return ok;
}

bool staging_close(Staging *s, bool ok, Diag *d)
{
    ok = ok && for_all(s, can_move, d) && for_all(s, move, d);
    remove_all(s->folder);
    if (s->lock >= 0)
        close(s->lock);
    signals_unblock(&s->hold);
    return ok;
}
