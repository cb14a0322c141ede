// Opens the files of --weights and the map of --weight-map.
#include "frontend/weight_file.h"

// The last part of a path, which may end in slashes.
static const char *name_of(Arena *a, const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return base_name(arena_copy(a, path, n));
}

static bool read_map(Arena *a, WeightFile *f, Diag *d)
{
    Diag of_map = {.file = base_name(f->map_path), .to = d->to};
    File file;

    bool ok = file_map(f->map_path, &file, &of_map);
    if (ok) {
        ok = weight_map_parse(a, (const char *)file.data, file.size, &f->map, &of_map);
        file_unmap(&file);
    }
    d->errors += of_map.errors;
    return ok;
}

WeightFile *weight_file_open(Arena *a, const char *path, const char *map, Diag *d)
{
    WeightFile *f = arena_array(a, WeightFile, 1);
    RtFileError e;

    *f = (WeightFile){.path = path, .map_path = map, .name = name_of(a, path), .index.arena = a};
    if (!rt_shards_open(&f->shards, path, &e)) {
        diag_error(d, "'%.200s': %s", path, e.text);
        return NULL;
    }
    for (int i = 0; i < f->shards.n; i++)
        map_set(&f->index, f->shards.tensor[i].name, i + 1);
    if (!map || read_map(a, f, d))
        return f;
    weight_file_close(f);
    return NULL;
}

void weight_file_close(WeightFile *f)
{
    if (f)
        rt_shards_close(&f->shards);
}

const char *const *weight_file_paths(const WeightFile *f, int *n)
{
    *n = f->shards.n_files;
    return (const char *const *)f->shards.path;
}

bool weight_file_check(const WeightFile *f, Diag *d)
{
    RtFileError e;

    if (rt_shards_check(&f->shards, &e))
        return true;
    diag_error(d, "'%.200s': %s", f->path, e.text);
    return false;
}

const RtStored *weight_file_find(const WeightFile *f, const char *name)
{
    int i = map_get(&f->index, name);

    return i ? &f->shards.tensor[i - 1] : NULL;
}

// The end of a name that nearest_name compares: it takes no longer ones.
static const char *tail(const char *name)
{
    enum { MAX_SHOWN = 64 };
    size_t n = strlen(name);

    return n > MAX_SHOWN ? name + n - MAX_SHOWN : name;
}

const char *weight_file_nearest(Arena *a, const WeightFile *f, const char *name)
{
    enum { MAX_TENSORS = 1 << 14 };  // tensors that are compared
    const char **tails = arena_array(a, const char *, f->shards.n + 1);
    int n = f->shards.n < MAX_TENSORS ? f->shards.n : MAX_TENSORS;

    for (int i = 0; i < n; i++)
        tails[i] = tail(f->shards.tensor[i].name);
    const char *nearest = nearest_name(tail(name), tails, n);
    for (int i = 0; i < n && nearest; i++)
        if (tails[i] == nearest)
            return f->shards.tensor[i].name;
    return NULL;
}
