// Text: a growing string that is printed to, and texts of numbers with units.
#include "base/base.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_TRY_BYTES = 60 };  // capacity that text_printf reserves before it knows the length

// Ensures capacity for `n` more bytes and a 0.
static void reserve(Text *t, size_t n)
{
    if (t->cap - t->n > n)
        return;
    size_t cap = t->cap ? t->cap : 64;
    while (cap - t->n <= n && cap < SIZE_MAX / 2)
        cap *= 2;
    char *s = cap - t->n > n ? realloc(t->s, cap) : NULL;
    if (!s)
        lack_of_memory();
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
    int n = FIRST_TRY_BYTES;
    size_t capacity;

    do {  // prints again if the capacity was too small
        reserve(t, (size_t)n);
        capacity = t->cap - t->n;
        va_start(args, fmt);
        n = vsnprintf(t->s + t->n, capacity, fmt, args);
        va_end(args);
    } while (n >= 0 && (size_t)n >= capacity);
    t->n += n < 0 ? 0 : (size_t)n;
    t->s[t->n] = 0;
}

static bool is_plain(char c) { return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\'; }

void text_quote(Text *t, const char *s)
{
    text_put(t, "\"", 1);
    while (*s) {
        const char *plain = s;
        while (is_plain(*s))
            s++;
        text_put(t, plain, (size_t)(s - plain));
        if (*s == '"' || *s == '\\')
            text_printf(t, "\\%c", *s++);
        else if (*s)
            text_printf(t, "\\x%02x", (unsigned char)*s++);
    }
    text_put(t, "\"", 1);
}

void text_free(Text *t)
{
    free(t->s);
    *t = (Text){0};
}

void text_name(Text *t, const char *s)
{
    bool is_plain = *s != 0;

    for (const char *c = s; *c; c++)
        is_plain &= isalnum((unsigned char)*c) || *c == '_' || *c == '.';
    text_put(t, "%", 1);
    if (is_plain)
        text_put(t, s, strlen(s));
    else
        text_quote(t, s);
}

void text_number(Text *t, double x)
{
    char s[40];
    int digits = 15;

    if (isnan(x)) {
        text_put(t, "nan", 3);
        return;
    }
    do
        snprintf(s, sizeof s, "%.*g", digits, x);
    while (digits++ < 17 && strtod(s, NULL) != x);
    text_put(t, s, strlen(s));
}

char *time_text(Arena *a, double seconds)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
    int i = 0;

    while (i + 1 < COUNT(units) && fabs(seconds) < units[i].unit)
        i++;
    double x = seconds / units[i].unit;
    int decimals = fabs(x) >= 100 || x == 0 ? 0 : fabs(x) >= 10 ? 1 : 2;
    return arena_string(a, "%.*f %s", decimals, x, units[i].name);
}

char *bytes_text(Arena *a, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;

    for (; bytes >= 1024 && i + 1 < COUNT(units); i++)
        bytes /= 1024;
    return arena_string(a, "%.*f %s", i && bytes < 100 ? 1 : 0, bytes, units[i]);
}
