// Reads and writes safetensors (https://github.com/huggingface/safetensors): a length of 8 bytes, a
// JSON object of that length, and the tensors' bytes.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_file.h"
#include "runtime/rt_json.h"

enum { MAX_TENSORS = 1 << 20 };

// ---- the header ----

typedef struct Reader {
    RtJson json;
    char *names;  // capacity for all names, whose total length is below the header's
    RtFileError *e;
} Reader;

static bool malformed(Reader *r) { return rt_file_fail(r->e, "safetensors: malformed header"); }

// Skips the metadata, an object of strings.
static bool skip_metadata(Reader *r)
{
    if (!rt_json_take(&r->json, '{'))
        return false;
    if (rt_json_take(&r->json, '}'))
        return true;
    do {
        char *key = r->names, *value = r->names;

        if (!rt_json_text(&r->json, &key) || !rt_json_take(&r->json, ':') ||
            !rt_json_text(&r->json, &value))
            return false;
    } while (rt_json_take(&r->json, ','));
    return rt_json_take(&r->json, '}');
}

typedef struct Body {
    const uint8_t *data;
    int64_t size, used;  // used: the largest end of a tensor
} Body;

// Do type and shape of `t` fit its bytes [range[0], range[1])?
static bool check_tensor(Reader *r, RtStored *t, Body *body, const int64_t *range)
{
    char shape[200];
    int64_t bytes = rt_dtype_bytes(t->dtype);
    bool overflow = false;

    rt_stored_print(shape, sizeof shape, t);
    for (int i = 0; i < t->rank; i++)
        overflow |= __builtin_mul_overflow(bytes, t->dim[i], &bytes);
    if (range[0] > range[1] || range[1] > body->size)
        return rt_file_fail(
            r->e, "safetensors: tensor '%.80s' lies at bytes %lld to %lld of %lld: truncated?",
            t->name, (long long)range[0], (long long)range[1], (long long)body->size);
    if (overflow || range[1] - range[0] != bytes)
        return rt_file_fail(r->e, "safetensors: tensor '%.80s' is %s but has %lld bytes", t->name,
                            shape, (long long)(range[1] - range[0]));
    t->data = body->data + range[0];
    t->bytes = bytes;
    body->used = range[1] > body->used ? range[1] : body->used;
    return true;
}

// Keys and words are stored after the names for a moment; the next name overwrites them.
static bool take_tensor(Reader *r, RtStored *t, Body *body)
{
    int64_t range[2];
    int has = 0;

    if (!rt_json_take(&r->json, '{'))
        return malformed(r);
    do {
        char *key = r->names, *end = key;

        if (!rt_json_word(&r->json, &end) || !rt_json_take(&r->json, ':'))
            return malformed(r);
        if (strcmp(key, "dtype") == 0) {
            char *word = end;
            if (!rt_json_word(&r->json, &end))
                return malformed(r);
            t->dtype = rt_dtype_find(word);
            if (!t->dtype)
                return rt_file_fail(r->e, "safetensors: type '%.16s' is not supported", word);
            has |= 1;
        } else if (strcmp(key, "shape") == 0) {
            t->rank = rt_json_counts(&r->json, t->dim, RT_FILE_RANK);
            has |= t->rank >= 0 ? 2 : 8;
        } else if (strcmp(key, "data_offsets") == 0) {
            has |= rt_json_counts(&r->json, range, 2) == 2 ? 4 : 8;
        } else {
            return malformed(r);
        }
    } while (rt_json_take(&r->json, ','));
    if (!rt_json_take(&r->json, '}') || has != 7)
        return malformed(r);
    return check_tensor(r, t, body, range);
}

static bool push(RtSafe *s, int *cap)
{
    if (s->n < *cap)
        return true;
    int more = *cap ? *cap * 2 : 64;
    RtStored *t = realloc(s->tensor, (size_t)more * sizeof *t);
    if (!t)
        return false;
    s->tensor = t;
    *cap = more;
    return true;
}

static bool take_tensors(Reader *r, RtSafe *s, Body *body)
{
    int cap = 0;

    if (!rt_json_take(&r->json, '{'))
        return malformed(r);
    if (rt_json_take(&r->json, '}'))
        return true;
    do {
        char *name = r->names;

        if (!rt_json_word(&r->json, &r->names) || !rt_json_take(&r->json, ':'))
            return malformed(r);
        if (strcmp(name, "__metadata__") == 0) {
            if (!skip_metadata(r))
                return malformed(r);
            continue;
        }
        if (s->n == MAX_TENSORS || !push(s, &cap))
            return rt_file_fail(r->e, "safetensors: too many tensors");
        RtStored *t = &s->tensor[s->n++];
        *t = (RtStored){.name = name};
        if (!take_tensor(r, t, body))
            return false;
    } while (rt_json_take(&r->json, ','));
    return rt_json_take(&r->json, '}') || malformed(r);
}

int rt_stored_by_name(const void *a, const void *b)
{
    return strcmp(((const RtStored *)a)->name, ((const RtStored *)b)->name);
}

static bool finish(Reader *r, RtSafe *s, const Body *body)
{
    if (rt_json_peek(&r->json) != 0 || r->json.at < r->json.end)
        return malformed(r);
    if (s->n > 1)
        qsort(s->tensor, (size_t)s->n, sizeof *s->tensor, rt_stored_by_name);
    for (int i = 1; i < s->n; i++)
        if (rt_stored_by_name(&s->tensor[i - 1], &s->tensor[i]) == 0)
            return rt_file_fail(r->e, "safetensors: tensor '%.80s' occurs twice",
                                s->tensor[i].name);
    if (body->used != body->size)
        return rt_file_fail(r->e, "safetensors: %lld bytes follow the last tensor",
                            (long long)(body->size - body->used));
    return true;
}

bool rt_safe_parse(RtSafe *s, const uint8_t *data, size_t size, RtFileError *e)
{
    Reader r = {.e = e};
    uint64_t n = 0;

    *s = (RtSafe){0};
    if (size < 8)
        return rt_file_fail(e, "safetensors: %zu bytes are too few", size);
    memcpy(&n, data, 8);
    if (n > size - 8 || n > RT_MAX_HEADER)
        return rt_file_fail(e,
                            "safetensors: its header says %llu bytes, the file has %zu: truncated?",
                            (unsigned long long)n, size);
    s->names = malloc((size_t)n + 1);
    if (!s->names)
        return rt_file_fail(e, "out of memory");
    r.names = s->names;
    r.json.at = (const char *)data + 8;
    r.json.end = r.json.at + n;
    Body body = {.data = data + 8 + n, .size = (int64_t)(size - 8 - n)};
    if (take_tensors(&r, s, &body) && finish(&r, s, &body))
        return true;
    rt_safe_close(s);
    return false;
}

bool rt_safe_open(RtSafe *s, const char *path, RtFileError *e)
{
    RtMap m;

    *s = (RtSafe){0};
    if (!rt_map(&m, path, e))
        return false;
    if (!rt_safe_parse(s, m.data, m.size, e)) {
        rt_unmap(&m);
        return false;
    }
    s->file = m;
    return true;
}

const RtStored *rt_safe_find(const RtSafe *s, const char *name)
{
    RtStored key = {.name = name};

    return s->n ? bsearch(&key, s->tensor, (size_t)s->n, sizeof key, rt_stored_by_name) : NULL;
}

void rt_safe_close(RtSafe *s)
{
    rt_unmap(&s->file);
    free(s->tensor);
    free(s->names);
    *s = (RtSafe){0};
}

// ---- writing ----

// Appends to `to` as snprintf does and always advances the length, even if it doesn't fit.
__attribute__((format(printf, 4, 5))) static void put(char *to, size_t capacity, size_t *n,
                                                      const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int k = vsnprintf(to && *n < capacity ? to + *n : NULL, to && *n < capacity ? capacity - *n : 0,
                      fmt, args);
    va_end(args);
    *n += (size_t)k;
}

static size_t put_header(char *to, size_t capacity, const RtStored *t, int n_tensors)
{
    size_t n = 8;
    long long at = 0;

    // Other readers of safetensors expect the format in the metadata.
    put(to, capacity, &n, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int i = 0; i < n_tensors; i++) {
        long long bytes = rt_dtype_bytes(t[i].dtype);

        put(to, capacity, &n, ",");
        n += rt_json_string(to ? to + n : NULL, to ? capacity - n : 0, t[i].name);
        put(to, capacity, &n, ":{\"dtype\":\"%s\",\"shape\":[", t[i].dtype);
        for (int k = 0; k < t[i].rank; k++) {
            put(to, capacity, &n, "%s%lld", k ? "," : "", (long long)t[i].dim[k]);
            bytes *= t[i].dim[k];
        }
        put(to, capacity, &n, "],\"data_offsets\":[%lld,%lld]}", at, at + bytes);
        at += bytes;
    }
    put(to, capacity, &n, "}%*s", (int)(7 - n % 8), "");
    return n;
}

char *rt_safe_header(const RtStored *t, int n, int64_t *bytes)
{
    size_t size = put_header(NULL, 0, t, n);
    uint64_t length = size - 8;

    *bytes = (int64_t)size;
    if (length > RT_MAX_HEADER)
        return NULL;
    char *text = malloc(size + 1);
    if (!text)
        return NULL;
    put_header(text, size + 1, t, n);
    memcpy(text, &length, 8);
    return text;
}
