// Finds the checkpoints in a folder, and verifies them.
#include "runtime/rt_checkpoint.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/rt_checksum.h"
#include "runtime/rt_finite.h"

static const char PREFIX[] = "step-";
enum { DIGITS = 12 };  // of a step in a name; no step of a trainer has more

bool rt_checkpoint_lock(const char *folder, char to[RT_LOCK_TEXT])
{
    char path[PATH_MAX];

    *to = 0;
    int n = snprintf(path, sizeof path, "%s/%s", folder, RT_LOCK_FILE);
    int fd = n < PATH_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    ssize_t bytes = read(fd, to, RT_LOCK_TEXT - 1);
    to[bytes > 0 ? bytes : 0] = 0;
    close(fd);
    return bytes >= 0;
}

int64_t rt_checkpoint_step(const char *name)
{
    size_t n = sizeof PREFIX - 1;

    if (strncmp(name, PREFIX, n) != 0 || strlen(name) != n + DIGITS ||
        strspn(name + n, "0123456789") != DIGITS)
        return -1;
    return strtoll(name + n, NULL, 10);
}

bool rt_checkpoint_path(char to[PATH_MAX], const char *folder, int64_t step, const char *name)
{
    int n = snprintf(to, PATH_MAX, "%s/%s%0*lld%s%s", folder, PREFIX, DIGITS, (long long)step,
                     name ? "/" : "", name ? name : "");

    return n < PATH_MAX;
}

bool rt_checkpoint_is_there(const char *folder, int64_t step)
{
    char path[PATH_MAX];

    return rt_checkpoint_path(path, folder, step, RT_MANIFEST_FILE) && access(path, F_OK) == 0;
}

int64_t rt_checkpoint_before(const char *folder, int64_t before)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;
    int64_t last = -1;

    while (d && (entry = readdir(d))) {
        int64_t step = rt_checkpoint_step(entry->d_name);
        if (step < before && step > last && rt_checkpoint_is_there(folder, step))
            last = step;
    }
    if (d)
        closedir(d);
    return last;
}

// ---- verifying ----

static bool fail_file(const char *name, RtFileError *e)
{
    RtFileError inner = *e;

    return rt_file_fail(e, "%.80s: %.220s", name, inner.text);
}

bool rt_checkpoint_finite(const RtManifest *m, const char *name, const RtMap *map, int first,
                          int by, RtFileError *e)
{
    bool are_weights = strcmp(name, RT_WEIGHTS_FILE) == 0, ok = true;
    char text[256];
    RtSafe s;

    if (!rt_safe_parse(&s, map->data, map->size, e))
        return false;
    for (int i = first; i < s.n && ok; i += by) {
        const RtStored *t = &s.tensor[i];
        RtNonfinite f = {.tensor = i + 1};
        int64_t n = t->bytes / rt_dtype_bytes(t->dtype);
        if (are_weights && rt_manifest_keeps(m, i))
            continue;
        f.element = rt_nonfinite_find(t->dtype, t->data, n, &f.kind);
        ok = f.element < 0;
        if (!ok)
            rt_nonfinite_print(text, sizeof text, t, &f);
    }
    rt_safe_close(&s);
    return ok || rt_file_fail(e, "%s", text);
}

static bool verify_file(const char *path, const RtManifest *m, const RtManifestFile *f,
                        RtFileError *e)
{
    RtChecksum sum = {0};
    RtMap map;

    if (!rt_map(&map, path, e))
        return false;
    bool ok = (int64_t)map.size == f->bytes ||
              rt_file_fail(e, RT_WRONG_SIZE, (long long)map.size, (long long)f->bytes);
    if (ok) {
        rt_checksum_add(&sum, 0, map.data, map.size);
        ok = rt_checksum_whole(rt_checksum_parts(&sum, f->bytes), f->bytes) == f->sum ||
             rt_file_fail(e, RT_WRONG_BYTES);
    }
    ok = ok && rt_checkpoint_finite(m, f->name, &map, 0, 1, e);
    ok = ok && rt_map_check(&map, e);
    rt_unmap(&map);
    return ok;
}

bool rt_checkpoint_verify(const char *folder, int64_t step, RtManifest *m, RtFileError *e)
{
    char path[PATH_MAX];

    *m = (RtManifest){0};
    if (!rt_checkpoint_path(path, folder, step, RT_MANIFEST_FILE))
        return rt_file_fail(e, "too long a path");
    if (!rt_manifest_read(m, path, e))
        return fail_file(RT_MANIFEST_FILE, e);
    for (int i = 0; i < m->n; i++)
        if (!rt_checkpoint_path(path, folder, step, m->file[i].name) ||
            !verify_file(path, m, &m->file[i], e))
            return fail_file(m->file[i].name, e);
    return true;
}
