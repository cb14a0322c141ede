// Writes strings of JSON, and reads JSON piece by piece.
#include "runtime/rt_json.h"

#include <stdio.h>
#include <string.h>

#include "runtime/rt_file.h"
#include "runtime/rt_utf8.h"

// ---- writing ----

size_t rt_json_string(char *to, size_t capacity, const char *s)
{
    size_t n = 1;

    if (capacity > 1)
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
        if (n + (size_t)k < capacity)
            memcpy(to + n, escape, (size_t)k);
        n += (size_t)k;
        s += from > 0 ? from : 1;
    }
    if (n + 1 < capacity) {
        to[n] = '"';
        to[n + 1] = 0;
    }
    return n + 1;
}

// ---- reading ----

char rt_json_peek(RtJson *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

bool rt_json_take(RtJson *r, char what)
{
    if (rt_json_peek(r) != what)
        return false;
    r->at++;
    return true;
}

static bool take_hex(RtJson *r, uint32_t *code)
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

static bool take_escape(RtJson *r, char **to)
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
bool rt_json_text(RtJson *r, char **to)
{
    if (!rt_json_take(r, '"'))
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
bool rt_json_word(RtJson *r, char **to)
{
    const char *word = *to;

    return rt_json_text(r, to) && word + strlen(word) + 1 == *to;
}

bool rt_json_count(RtJson *r, int64_t *v)
{
    *v = 0;
    if (rt_json_peek(r) < '0' || rt_json_peek(r) > '9')
        return false;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, *r->at - '0', v))
            return false;
    return true;
}

// Reads at most `capacity` counts in brackets; returns how many, or -1 if the text is anything
// else.
int rt_json_counts(RtJson *r, int64_t *v, int capacity)
{
    if (!rt_json_take(r, '['))
        return -1;
    if (rt_json_take(r, ']'))
        return 0;
    for (int n = 0; n < capacity;) {
        if (!rt_json_count(r, &v[n++]))
            return -1;
        if (rt_json_take(r, ']'))
            return n;
        if (!rt_json_take(r, ','))
            return -1;
    }
    return -1;
}

// Skips a number or a word.
static bool skip_word(RtJson *r)
{
    const char *begin = r->at;

    while (r->at < r->end && *r->at && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *r->at))
        r->at++;
    return r->at > begin;
}

static bool skip_string(RtJson *r)
{
    for (r->at++; r->at < r->end && *r->at != '"'; r->at++)
        if (*r->at == '\\' && r->at + 1 < r->end)
            r->at++;
    return r->at < r->end && *r->at++ == '"';
}

bool rt_json_skip(RtJson *r, int depth)
{
    char open = rt_json_peek(r), close = open == '{' ? '}' : ']';

    if (open == '"')
        return skip_string(r);
    if (open != '{' && open != '[')
        return skip_word(r);
    r->at++;
    if (depth == 0 || rt_json_take(r, close))
        return depth > 0;
    do {
        if (open == '{' && (rt_json_peek(r) != '"' || !skip_string(r) || !rt_json_take(r, ':')))
            return false;
        if (!rt_json_skip(r, depth - 1))
            return false;
    } while (rt_json_take(r, ','));
    return rt_json_take(r, close);
}
