// Reads and writes safetensors (https://github.com/huggingface/safetensors): a length of 8 bytes, a
// JSON object of that length, and the tensors' bytes.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_file.h"
#include "runtime/rt_utf8.h"

enum { MAX_TENSORS = 1 << 20 };

// ---- JSON strings ----

size_t rt_json_string(char *to, size_t room, const char *s)
{
    size_t n = 1;

    if (room > 1)
        to[0] = '"';
    while (*s) {
        char escape[8];
        unsigned char c = (unsigned char)*s;
        int from = rt_utf8_length(s), k = from > 0 ? from : 1;

        if (c == '"' || c == '\\')
            k = snprintf(escape, sizeof escape, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || from == 0)
            k = snprintf(escape, sizeof escape, "\\u%04x", c);
        else
            memcpy(escape, s, (size_t)k);
        if (n + (size_t)k < room)
            memcpy(to + n, escape, (size_t)k);
        n += (size_t)k;
        s += from > 0 ? from : 1;
    }
    if (n + 1 < room) {
        to[n] = '"';
        to[n + 1] = 0;
    }
    return n + 1;
}

// ---- the header ----

typedef struct Reader {
    const char *at, *end;  // of the header
    char *names;           // room for all names, whose total length is below the header's
    RtFileError *e;
} Reader;

static bool malformed(Reader *r) { return rt_file_fail(r->e, "safetensors: malformed header"); }

static char peek(Reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

static bool take(Reader *r, char what)
{
    if (peek(r) != what)
        return false;
    r->at++;
    return true;
}

static bool take_hex(Reader *r, uint32_t *code)
{
    *code = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        int v = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (v < 0)
            return false;
        *code = *code << 4 | (uint32_t)v;
    }
    return true;
}

// Appends a character as UTF-8, which is shorter than its escape.
static void put_code(char **to, uint32_t c)
{
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    *(*to)++ = (char)(lead[n] | c >> (6 * (n - 1)));
    for (int i = n - 2; i >= 0; i--)
        *(*to)++ = (char)(0x80 | (c >> (6 * i) & 0x3f));
}

static bool take_escape(Reader *r, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    uint32_t code, low;

    if (r->at == r->end)
        return false;
    char c = *r->at++;
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        *(*to)++ = into[known - from];
        return true;
    }
    if (c != 'u' || !take_hex(r, &code) || (code >= 0xdc00 && code < 0xe000))
        return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->end - r->at < 6 || *r->at++ != '\\' || *r->at++ != 'u' || !take_hex(r, &low) ||
            low < 0xdc00 || low >= 0xe000)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    put_code(to, code);
    return true;
}

// Reads a string to `*to`, 0-terminated, and moves `*to` to its end.
static bool take_string(Reader *r, char **to)
{
    if (!take(r, '"'))
        return false;
    while (r->at < r->end && *r->at != '"') {
        unsigned char c = (unsigned char)*r->at++;

        if (c < 0x20)
            return false;
        if (c != '\\')
            *(*to)++ = (char)c;
        else if (!take_escape(r, to))
            return false;
    }
    *(*to)++ = 0;
    return r->at++ < r->end;
}

// The same for a string without NUL.
static bool take_word(Reader *r, char **to)
{
    const char *word = *to;

    return take_string(r, to) && word + strlen(word) + 1 == *to;
}

static bool take_count(Reader *r, int64_t *v)
{
    *v = 0;
    if (peek(r) < '0' || peek(r) > '9')
        return false;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, *r->at - '0', v))
            return false;
    return true;
}

// Reads at most `room` counts in brackets; returns how many, or -1 if the text is anything else.
static int take_counts(Reader *r, int64_t *v, int room)
{
    if (!take(r, '['))
        return -1;
    if (take(r, ']'))
        return 0;
    for (int n = 0; n < room;) {
        if (!take_count(r, &v[n++]))
            return -1;
        if (take(r, ']'))
            return n;
        if (!take(r, ','))
            return -1;
    }
    return -1;
}

// Skips the metadata, an object of strings.
static bool skip_metadata(Reader *r)
{
    if (!take(r, '{'))
        return false;
    if (take(r, '}'))
        return true;
    do {
        char *key = r->names, *value = r->names;

        if (!take_string(r, &key) || !take(r, ':') || !take_string(r, &value))
            return false;
    } while (take(r, ','));
    return take(r, '}');
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

    if (!take(r, '{'))
        return malformed(r);
    do {
        char *key = r->names, *end = key;

        if (!take_word(r, &end) || !take(r, ':'))
            return malformed(r);
        if (strcmp(key, "dtype") == 0) {
            char *word = end;
            if (!take_word(r, &end))
                return malformed(r);
            t->dtype = rt_dtype_find(word);
            if (!t->dtype)
                return rt_file_fail(r->e, "safetensors: type '%.16s' is not supported", word);
            has |= 1;
        } else if (strcmp(key, "shape") == 0) {
            t->rank = take_counts(r, t->dim, RT_FILE_RANK);
            has |= t->rank >= 0 ? 2 : 8;
        } else if (strcmp(key, "data_offsets") == 0) {
            has |= take_counts(r, range, 2) == 2 ? 4 : 8;
        } else {
            return malformed(r);
        }
    } while (take(r, ','));
    if (!take(r, '}') || has != 7)
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

    if (!take(r, '{'))
        return malformed(r);
    if (take(r, '}'))
        return true;
    do {
        char *name = r->names;

        if (!take_word(r, &r->names) || !take(r, ':'))
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
    } while (take(r, ','));
    return take(r, '}') || malformed(r);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const RtStored *)a)->name, ((const RtStored *)b)->name);
}

static bool finish(Reader *r, RtSafe *s, const Body *body)
{
    if (peek(r) != 0 || r->at < r->end)
        return malformed(r);
    if (s->n > 1)
        qsort(s->tensor, (size_t)s->n, sizeof *s->tensor, by_name);
    for (int i = 1; i < s->n; i++)
        if (by_name(&s->tensor[i - 1], &s->tensor[i]) == 0)
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
    if (n > size - 8 || n > RT_MOST_HEADER)
        return rt_file_fail(e,
                            "safetensors: its header says %llu bytes, the file has %zu: truncated?",
                            (unsigned long long)n, size);
    s->names = malloc((size_t)n + 1);
    if (!s->names)
        return rt_file_fail(e, "out of memory");
    r.names = s->names;
    r.at = (const char *)data + 8;
    r.end = r.at + n;
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

    return s->n ? bsearch(&key, s->tensor, (size_t)s->n, sizeof key, by_name) : NULL;
}

void rt_safe_close(RtSafe *s)
{
    rt_unmap(&s->file);
    free(s->tensor);
    free(s->names);
    *s = (RtSafe){0};
}

// ---- writing ----

// Appends to `to` as snprintf does and always advances the length, even without room.
__attribute__((format(printf, 4, 5))) static void put(char *to, size_t room, size_t *n,
                                                      const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int k = vsnprintf(to && *n < room ? to + *n : NULL, to && *n < room ? room - *n : 0, fmt, args);
    va_end(args);
    *n += (size_t)k;
}

static size_t put_header(char *to, size_t room, const RtStored *t, int n_tensors)
{
    size_t n = 8;
    long long at = 0;

    // Other readers of safetensors expect the format in the metadata.
    put(to, room, &n, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int i = 0; i < n_tensors; i++) {
        long long bytes = rt_dtype_bytes(t[i].dtype);

        put(to, room, &n, ",");
        n += rt_json_string(to ? to + n : NULL, to ? room - n : 0, t[i].name);
        put(to, room, &n, ":{\"dtype\":\"%s\",\"shape\":[", t[i].dtype);
        for (int k = 0; k < t[i].rank; k++) {
            put(to, room, &n, "%s%lld", k ? "," : "", (long long)t[i].dim[k]);
            bytes *= t[i].dim[k];
        }
        put(to, room, &n, "],\"data_offsets\":[%lld,%lld]}", at, at + bytes);
        at += bytes;
    }
    put(to, room, &n, "}%*s", (int)(7 - n % 8), "");
    return n;
}

char *rt_safe_header(const RtStored *t, int n, int64_t *bytes)
{
    size_t size = put_header(NULL, 0, t, n);
    uint64_t length = size - 8;

    *bytes = (int64_t)size;
    if (length > RT_MOST_HEADER)
        return NULL;
    char *text = malloc(size + 1);
    if (!text)
        return NULL;
    put_header(text, size + 1, t, n);
    memcpy(text, &length, 8);
    return text;
}
