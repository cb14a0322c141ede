// A folder in which results are written before they are moved into place.
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

static const char prefix[] = ".shardcc-";

// ---- the lock ----
// The kernel lets go of it whatever ends its owner: a stage without one is nobody's.

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

// Clears away what killed programs of this user left in `place`.
static void remove_old(Arena *a, const char *place)
{
    DIR *dir = opendir(place);
    struct stat s;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, prefix, sizeof prefix - 1))
            continue;
        char *folder = arena_string(a, "%s/%s", place, e->d_name);
        int fd = lock(folder, LOCK_EX | LOCK_NB);
        if (fd >= 0 && !fstat(fd, &s) && s.st_uid == geteuid())
            remove_all(folder);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

// ---- stages ----

bool stage_open(Stage *s, Arena *a, const char *place, Diag *d)
{
    *s = (Stage){.arena = a, .place = place, .lock = -1};
    hold_begin(&s->hold);
    remove_old(a, place);
    for (;;) {
        s->folder = arena_string(a, "%s/%sXXXXXX", place, prefix);
        if (!mkdtemp(s->folder))
            break;
        s->lock = lock(s->folder, LOCK_EX);
        if (!access(s->folder, F_OK))
            return true;
        close(s->lock);  // another program took it for an old one before it had its lock
    }
    diag_error(d, "cannot write into '%s': %s", place, strerror(errno));
    hold_end(&s->hold);
    return false;
}

const char *stage_file(Stage *s, const char *name)
{
    *arena_push(s->arena, s->name, s->n, s->cap) = name;
    return arena_string(s->arena, "%s/%s", s->folder, name);
}

const char *stage_folder(Stage *s, const char *name, Diag *d)
{
    const char *path = stage_file(s, arena_string(s->arena, "%s/", name));

    if (!mkdir(path, 0777))
        return path;
    diag_error(d, "cannot make the folder '%s': %s", path, strerror(errno));
    return NULL;
}

static bool is_folder(const char *name) { return name[strlen(name) - 1] == '/'; }

static bool move(const char *name, const char *from, const char *to, Diag *d)
{
    if (is_folder(name) ? !mkdir(to, 0777) || errno == EEXIST : !rename(from, to))
        return true;
    diag_error(d, "cannot write '%s': %s", to, strerror(errno));
    return false;
}

bool stage_close(Stage *s, bool ok, Diag *d)
{
    for (int i = 0; i < s->n && ok; i++)
        ok = move(s->name[i], arena_string(s->arena, "%s/%s", s->folder, s->name[i]),
                  arena_string(s->arena, "%s/%s", s->place, s->name[i]), d);
    remove_all(s->folder);
    if (s->lock >= 0)
        close(s->lock);
    hold_end(&s->hold);
    return ok;
}
