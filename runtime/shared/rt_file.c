// Reads and writes npy headers, element types and printable text of tensor files.
#include "runtime/rt_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/rt_utf8.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files' numbers are used in place");

// Is there a character that can be printed? Sets *bytes to its length, else to 1.
static bool is_plain(const char *s, int *bytes)
{
    unsigned char c = (unsigned char)s[0];
    int n = rt_utf8_length(s);
    bool is_control = c < 0x20 || c == 0x7f || (n == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0);
    bool plain = n > 0 && !is_control;

    *bytes = plain ? n : 1;
    return plain;
}

void rt_printable(char *to, size_t capacity, const char *s)
{
    enum { MAX_CHAR = 4, DOTS = 4 };  // bytes of a character or an escape; of the end
    size_t n = 0;

    for (int bytes; *s && n + MAX_CHAR + DOTS <= capacity; s += bytes) {
        bool plain = is_plain(s, &bytes);

        if (plain)
            memcpy(to + n, s, (size_t)bytes);
        else
            snprintf(to + n, MAX_CHAR + 1, "\\x%02x", (unsigned char)*s);
        n += plain ? (size_t)bytes : MAX_CHAR;
    }
    snprintf(to + n, capacity - n, "%s", *s ? "..." : "");
}

// Escapes the whole message, because it may quote an untrusted file.
bool rt_file_fail(RtFileError *e, const char *fmt, ...)
{
    char text[sizeof e->text];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rt_printable(e->text, sizeof e->text, text);
    return false;
}

// ---- tensors ----

// numpy has no bfloat16; packages that add it write it as raw bytes of size 2 ("V2").
static const struct {
    const char *name, *npy;
    int bytes;
} dtypes[] = {
    {"F32", "f4", 4}, {"F64", "f8", 8}, {"F16", "f2", 2},  {"BF16", "V2", 2}, {"I8", "i1", 1},
    {"I16", "i2", 2}, {"I32", "i4", 4}, {"I64", "i8", 8},  {"U8", "u1", 1},   {"U16", "u2", 2},
    {"U32", "u4", 4}, {"U64", "u8", 8}, {"BOOL", "b1", 1},
};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

const char *rt_dtype_find(const char *name)
{
    for (int i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].name;
    return NULL;
}

int rt_dtype_bytes(const char *dtype)
{
    for (int i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, dtype) == 0)
            return dtypes[i].bytes;
    return 0;
}

void rt_stored_print(char *to, size_t capacity, const RtStored *t)
{
    size_t n = (size_t)snprintf(to, capacity, "%s[", t->dtype);

    for (int i = 0; i < t->rank && n < capacity; i++)
        n += (size_t)snprintf(to + n, capacity - n, "%s%lld", i ? "," : "", (long long)t->dim[i]);
    if (n < capacity)
        snprintf(to + n, capacity - n, "]");
}

// ---- npy ----

// A position in the header's text, which is a Python dict.
typedef struct Cursor {
    const char *at, *end;
} Cursor;

static char peek(Cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
    return c->at < c->end ? *c->at : 0;
}

static bool take(Cursor *c, char what)
{
    if (peek(c) != what)
        return false;
    c->at++;
    return true;
}

// A string in single or double quotes without escapes.
static bool take_string(Cursor *c, char *to, size_t capacity)
{
    char quote = peek(c);
    size_t n = 0;

    if (quote != '\'' && quote != '"')
        return false;
    for (c->at++; c->at < c->end && *c->at != quote; c->at++) {
        if (n + 1 >= capacity || *c->at == '\\' || !*c->at)
            return false;
        to[n++] = *c->at;
    }
    to[n] = 0;
    return c->at++ < c->end;
}

static bool take_word(Cursor *c, const char *word)
{
    size_t n = strlen(word);

    if (peek(c) != *word || (size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_shape(Cursor *c, RtStored *t)
{
    if (!take(c, '('))
        return false;
    for (t->rank = 0; !take(c, ')'); t->rank++) {
        int64_t v = 0;

        if (t->rank == RT_FILE_RANK || peek(c) < '0' || peek(c) > '9')
            return false;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c->at - '0', &v))
                return false;
        t->dim[t->rank] = v;
        if (!take(c, ',') && peek(c) != ')')
            return false;
    }
    return true;
}

static bool set_dtype(RtStored *t, const char *descr, RtFileError *e)
{
    if (*descr == '>')
        return rt_file_fail(e, "npy: numbers are big-endian ('%.10s'); little-endian ones are read",
                            descr);
    for (int i = 0; i < N_DTYPES && *descr && strchr("<|=", *descr); i++)
        if (strcmp(dtypes[i].npy, descr + 1) == 0)
            t->dtype = dtypes[i].name;
    return t->dtype || rt_file_fail(e, "npy: elements of type '%.10s' are not supported", descr);
}

static bool parse_dict(Cursor *c, RtStored *t, RtFileError *e)
{
    static const char malformed[] = "npy: malformed header";
    bool has_descr = false, has_order = false, has_shape = false;

    if (!take(c, '{'))
        return rt_file_fail(e, malformed);
    while (!take(c, '}')) {
        char key[16], descr[16];

        if (!take_string(c, key, sizeof key) || !take(c, ':'))
            return rt_file_fail(e, malformed);
        if (strcmp(key, "descr") == 0 && !has_descr) {
            if (!take_string(c, descr, sizeof descr))
                return rt_file_fail(
                    e, "npy: elements are records, or of a type that is not supported");
            if (!set_dtype(t, descr, e))
                return false;
            has_descr = true;
        } else if (strcmp(key, "fortran_order") == 0 && !has_order) {
            if (take_word(c, "True"))
                return rt_file_fail(e,
                                    "npy: in Fortran order; save it with numpy.ascontiguousarray");
            has_order = take_word(c, "False");
        } else if (strcmp(key, "shape") == 0 && !has_shape) {
            has_shape = take_shape(c, t);
        } else {
            return rt_file_fail(e, malformed);
        }
        if (!take(c, ',') && peek(c) != '}')
            return rt_file_fail(e, malformed);
    }
    bool is_whole = !peek(c) && c->at == c->end;
    return (is_whole && has_descr && has_order && has_shape) || rt_file_fail(e, malformed);
}

bool rt_npy_parse(RtStored *t, const uint8_t *data, size_t size, RtFileError *e)
{
    *t = (RtStored){.name = ""};
    if (size < 12 || memcmp(data, "\x93NUMPY", 6) != 0)
        return rt_file_fail(e, "not an npy file");
    bool is_short = data[6] == 1;
    size_t start = is_short ? 10 : 12, n = data[8] | (size_t)data[9] << 8;
    if (!is_short)
        n |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (data[6] < 1 || data[6] > 3)
        return rt_file_fail(e, "npy: version %d is not supported", data[6]);
    if (n > size - start)
        return rt_file_fail(e, "npy: its header says %zu bytes, %zu are there", n, size - start);
    Cursor c = {(const char *)data + start, (const char *)data + start + n};
    if (!parse_dict(&c, t, e))
        return false;

    t->data = data + start + n;
    t->bytes = rt_dtype_bytes(t->dtype);
    bool overflow = false;
    for (int i = 0; i < t->rank; i++)
        overflow |= __builtin_mul_overflow(t->bytes, t->dim[i], &t->bytes);
    int64_t there = (int64_t)(size - start - n);
    char shape[200];
    rt_stored_print(shape, sizeof shape, t);
    if (overflow)
        return rt_file_fail(e, "npy: its header says %s, too large", shape);
    return t->bytes == there ||
           rt_file_fail(e, "npy: its header says %s, %lld bytes; %lld are there", shape,
                        (long long)t->bytes, (long long)there);
}

size_t rt_npy_header(char *to, size_t capacity, const RtStored *t)
{
    const char *npy = "";
    for (int i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, t->dtype) == 0)
            npy = dtypes[i].npy;
    char order = npy[1] == '1' ? '|' : '<';

    size_t n = 10;
    n += (size_t)snprintf(to + n, capacity - n,
                          "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, npy);
    for (int i = 0; i < t->rank; i++)
        n += (size_t)snprintf(to + n, capacity - n, "%lld, ", (long long)t->dim[i]);
    n += (size_t)snprintf(to + n, capacity - n, "), }");
    while (n % 64 != 63)
        to[n++] = ' ';
    to[n++] = '\n';
    memcpy(to, "\x93NUMPY\1\0", 8);
    to[8] = (char)((n - 10) & 0xff);
    to[9] = (char)((n - 10) >> 8);
    return n;
}
