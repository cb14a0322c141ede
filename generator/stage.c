// A folder in which results are written before they are moved into place.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/generator.h"

bool stage_open(Stage *s, Arena *a, const char *place, Diag *d)
{
    *s = (Stage){.arena = a, .place = place};
    s->folder = arena_string(a, "%s/.shardcc-XXXXXX", place);
    if (mkdtemp(s->folder))
        return true;
    diag_error(d, "cannot write into '%s': %s", place, strerror(errno));
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
    for (int i = s->n - 1; i >= 0; i--) {  // what is left: folders, all if it failed
        const char *path = arena_string(s->arena, "%s/%s", s->folder, s->name[i]);
        if (is_folder(path))
            rmdir(path);
        else
            unlink(path);
    }
    rmdir(s->folder);
    return ok;
}
