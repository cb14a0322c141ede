#include "base/base.h"

#include <stdlib.h>
#include <string.h>

// Makes room for `n` more bytes and a 0.
static void reserve(Text *t, size_t n)
{
    if (t->cap - t->n > n)
        return;
    size_t cap = t->cap ? t->cap : 64;
    while (cap - t->n <= n && cap < SIZE_MAX / 2)
        cap *= 2;
    char *s = cap - t->n > n ? realloc(t->s, cap) : NULL;
    if (!s) {
        fprintf(stderr, "shardcc: out of memory\n");
        exit(1);
    }
    t->s = s;
    t->cap = cap;
}

void text_put(Text *t, const char *s, size_t n)
{
    reserve(t, n);
    if (n)
        memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
}

void text_printf(Text *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    reserve(t, (size_t)n);
    va_start(args, fmt);
    vsnprintf(t->s + t->n, (size_t)n + 1, fmt, args);
    va_end(args);
    t->n += (size_t)n;
}

void text_quote(Text *t, const char *s)
{
    text_put(t, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_printf(t, "\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            text_printf(t, "\\x%02x", c);
        else
            text_put(t, s, 1);
    }
    text_put(t, "\"", 1);
}

void text_free(Text *t)
{
    free(t->s);
    *t = (Text){0};
}
