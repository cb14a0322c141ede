// Opens several files of safetensors as one.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/rt_file.h"
#include "runtime/rt_json.h"

enum { MAX_FILES = 1 << 16, MAX_NAME = 255, MAX_DEPTH = 16 };

static const char INDEX[] = "model.safetensors.index.json", FILE_NAME[] = "model.safetensors";

// ---- which file ----

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool rt_shards_find(const char *path, char *to, size_t capacity, RtFileError *e)
{
    if (!is_folder(path))
        return (size_t)snprintf(to, capacity, "%s", path) < capacity ||
               rt_file_fail(e, "too long a path");
    if ((size_t)snprintf(to, capacity, "%s/%s", path, INDEX) >= capacity)
        return rt_file_fail(e, "too long a path");
    if (access(to, F_OK) == 0)
        return true;
    snprintf(to, capacity, "%s/%s", path, FILE_NAME);
    return access(to, F_OK) == 0 ||
           rt_file_fail(e, "a folder that has neither %s nor %s", FILE_NAME, INDEX);
}

static bool is_index(const char *path)
{
    size_t n = strlen(path), end = strlen(".json");

    return n >= end && strcmp(path + n - end, ".json") == 0;
}

// ---- the index ----

typedef struct Index {
    RtJson json;
    char *words, *end;  // capacity for all strings, and where the next one goes
    const char **name;  // of the files, each once
    int n, capacity;
    RtFileError *e;
} Index;

static bool malformed(Index *x) { return rt_file_fail(x->e, "malformed index"); }

// A name without a folder: the index is no one's key to other folders.
static bool is_plain(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) <= MAX_NAME;
}

static bool add_name(Index *x, const char *name)
{
    if (!is_plain(name))
        return rt_file_fail(x->e, "its shard '%.80s' isn't a name of a file in its folder", name);
    for (int i = x->n - 1; i >= 0; i--)
        if (strcmp(x->name[i], name) == 0)
            return true;
    if (x->n == MAX_FILES)
        return rt_file_fail(x->e, "it has more than %d shards", MAX_FILES);
    if (x->n == x->capacity) {
        int capacity = x->capacity ? 2 * x->capacity : 16;
        const char **grown = realloc(x->name, (size_t)capacity * sizeof *grown);
        if (!grown)
            return rt_file_fail(x->e, "out of memory");
        x->name = grown;
        x->capacity = capacity;
    }
    x->name[x->n++] = name;
    return true;
}

// {"TENSOR": "FILE", …}
static bool read_map(Index *x)
{
    RtJson *r = &x->json;

    if (!rt_json_take(r, '{'))
        return malformed(x);
    if (rt_json_take(r, '}'))
        return true;
    do {
        if (!rt_json_word(r, &x->end) || !rt_json_take(r, ':'))
            return malformed(x);
        const char *name = x->end;
        if (!rt_json_word(r, &x->end))
            return malformed(x);
        if (!add_name(x, name))
            return false;
    } while (rt_json_take(r, ','));
    return rt_json_take(r, '}') || malformed(x);
}

static bool read_index(Index *x)
{
    RtJson *r = &x->json;
    bool has_map = false;

    if (!rt_json_take(r, '{'))
        return malformed(x);
    do {
        const char *key = x->end;
        if (!rt_json_word(r, &x->end) || !rt_json_take(r, ':'))
            return malformed(x);
        bool is_map = strcmp(key, "weight_map") == 0;
        if (is_map && has_map)
            return malformed(x);
        has_map |= is_map;
        if (is_map && !read_map(x))
            return false;
        if (!is_map && !rt_json_skip(r, MAX_DEPTH))
            return malformed(x);
    } while (rt_json_take(r, ','));
    if (!rt_json_take(r, '}') || rt_json_peek(r))
        return malformed(x);
    return has_map || rt_file_fail(x->e, "it has no weight_map");
}

// ---- the files ----

static bool reserve(RtShards *s, int n, RtFileError *e)
{
    s->file = calloc((size_t)n + 1, sizeof *s->file);
    s->path = calloc((size_t)n + 1, sizeof *s->path);
    return (s->file && s->path) || rt_file_fail(e, "out of memory");
}

static bool add_file(RtShards *s, const char *path, const char *shard, RtFileError *e)
{
    if (rt_safe_open(&s->file[s->n_files], path, e)) {
        s->n += s->file[s->n_files].n;
        s->path[s->n_files++] = strdup(path);
        return s->path[s->n_files - 1] || rt_file_fail(e, "out of memory");
    }
    RtFileError inner = *e;
    return shard ? rt_file_fail(e, "its shard '%.80s': %.200s", shard, inner.text) : false;
}

static bool open_index(RtShards *s, const char *path, RtFileError *e)
{
    char shard[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    RtMap map;

    if (!rt_map(&map, path, e))
        return false;
    Index x = {.json = {(const char *)map.data, (const char *)map.data + map.size}, .e = e};
    x.words = x.end = malloc(map.size + 1);
    bool ok = x.words ? read_index(&x) && rt_map_check(&map, e) : rt_file_fail(e, "out of memory");
    ok = ok && reserve(s, x.n, e);
    for (int i = 0; i < x.n && ok; i++)
        ok =
            (snprintf(shard, sizeof shard, "%.*s%s", folder, path, x.name[i]) < (int)sizeof shard ||
             rt_file_fail(e, "too long a path")) &&
            add_file(s, shard, x.name[i], e);
    free(x.name);
    free(x.words);
    rt_unmap(&map);
    return ok;
}

static bool join_tensors(RtShards *s, RtFileError *e)
{
    int n = 0;

    s->tensor = malloc((size_t)(s->n + 1) * sizeof *s->tensor);
    if (!s->tensor)
        return rt_file_fail(e, "out of memory");
    for (int i = 0; i < s->n_files; n += s->file[i++].n)
        if (s->file[i].n)
            memcpy(s->tensor + n, s->file[i].tensor, (size_t)s->file[i].n * sizeof *s->tensor);
    qsort(s->tensor, (size_t)s->n, sizeof *s->tensor, rt_stored_by_name);
    for (int i = 1; i < s->n; i++)
        if (rt_stored_by_name(&s->tensor[i - 1], &s->tensor[i]) == 0)
            return rt_file_fail(e, "tensor '%.80s' is in two shards", s->tensor[i].name);
    return true;
}

bool rt_shards_open(RtShards *s, const char *path, RtFileError *e)
{
    char file[PATH_MAX];

    *s = (RtShards){0};
    if (!rt_shards_find(path, file, sizeof file, e))
        return false;
    bool ok = true;
    if (is_index(file)) {
        ok = open_index(s, file, e);
    } else {
        ok = reserve(s, 1, e) && add_file(s, file, NULL, e);
    }
    if (ok && join_tensors(s, e))
        return true;
    rt_shards_close(s);
    return false;
}

const RtStored *rt_shards_tensor(const RtShards *s, const char *name)
{
    const RtStored key = {.name = name};

    return s->n ? bsearch(&key, s->tensor, (size_t)s->n, sizeof key, rt_stored_by_name) : NULL;
}

bool rt_shards_check(const RtShards *s, RtFileError *e)
{
    for (int i = 0; i < s->n_files; i++)
        if (!rt_map_check(&s->file[i].file, e))
            return false;
    return true;
}

void rt_shards_close(RtShards *s)
{
    for (int i = 0; i < s->n_files; i++)
        rt_safe_close(&s->file[i]);
    for (int i = 0; i < s->n_files; i++)
        free(s->path[i]);
    free(s->file);
    free(s->path);
    free(s->tensor);
    *s = (RtShards){0};
}
