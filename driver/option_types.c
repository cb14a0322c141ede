// The types of options: how their values are read, and written again.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/internal.h"

static void push(Arena *a, Strings *list, const char *s)
{
    *arena_push(a, list->s, list->n, list->cap) = s;
}

void option_put(Arena *a, const OptionDef *o, const char *value, Strings *to)
{
    push(a, to, o->name);
    push(a, to, value);
}

// ---- flags ----

static bool read_flag(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    *(bool *)field = true;
    return true;
}

static void put_flag(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    if (*(const bool *)field)
        push(a, to, o->name);
}

const OptionType option_flag = {read_flag, put_flag, sizeof(bool)};

// ---- texts ----

static bool read_text(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    *(const char **)field = s;
    if (o->check)
        return o->check(s, status);
    return *s || complain(status, "%s: the name is empty", o->name);
}

static void put_text(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    const char *s = *(const char *const *)field;

    if (s)
        option_put(a, o, s, to);
}

const OptionType option_text = {read_text, put_text, sizeof(const char *)};

static void put_file(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    const char *path = *(const char *const *)field;

    if (path)
        option_put(a, o, base_name(path), to);
}

const OptionType option_file = {read_text, put_file, sizeof(const char *)};

static bool read_source(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    const char *before = *(const char *const *)field;

    if (before)
        return complain(status, "%s is given twice: '%s' and '%s'", o->name, before, s);
    return read_text(a, o, s, field, status);
}

static void put_source(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    const char *path = *(const char *const *)field;
    size_t n = path ? strlen(path) : 0;

    while (n > 1 && path[n - 1] == '/')
        n--;
    if (path)
        option_put(a, o, base_name(arena_copy(a, path, n)), to);
}

const OptionType option_source = {read_source, put_source, sizeof(const char *)};

static bool read_texts(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    push(a, field, s);
    return !o->check || o->check(s, status);
}

static void put_texts(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    const Strings *list = field;

    for (int i = 0; i < list->n; i++)
        option_put(a, o, list->s[i], to);
}

const OptionType option_texts = {read_texts, put_texts, sizeof(Strings)};

// ---- numbers ----

static bool read_count(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    char *end;

    errno = 0;
    int64_t n = strtoll(s, &end, 10);
    if (o->word && !strcmp(s, o->word))
        n = 0;
    else if (*s < '0' || *s > '9' || *end || errno || n < 1 || n > o->max)
        return complain(status, "%s: '%s' is not a whole number from 1 to %d%s%s", o->name, s,
                        o->max, o->word ? ", or " : "", o->word ? o->word : "");
    *(int *)field = (int)n;
    return true;
}

static void put_count(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    int n = *(const int *)field;

    if (n != o->absent)
        option_put(a, o, n || !o->word ? arena_string(a, "%d", n) : o->word, to);
}

const OptionType option_count = {read_count, put_count, sizeof(int)};

static bool read_number(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    char *end;

    errno = 0;
    double x = strtod(s, &end);
    if (!*s || *end || errno || !isfinite(x) || x < 0)
        return complain(status, "%s: '%s' is not a number of at least 0", o->name, s);
    *(double *)field = x;
    return true;
}

static void put_number(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    double x = *(const double *)field;

    if (x > 0)
        option_put(a, o, arena_string(a, "%.9g", x), to);
}

const OptionType option_number = {read_number, put_number, sizeof(double)};

static bool read_bytes(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    char *end;
    double x = strtod(s, &end), scale = 1;
    int u = *end ? -1 : 0;

    for (int i = 0; i < COUNT(units) && u < 0; i++) {
        u = strcmp(end, units[i]) ? -1 : i;
        scale = ldexp(1, 10 * i);
    }
    if (end == s || u < 0 || !(x * scale >= 1) || !(x * scale < ldexp(1, 60)))
        return complain(status, "%s: '%s' is not a size such as 70GiB", o->name, s);
    *(int64_t *)field = (int64_t)(x * scale);
    return true;
}

static void put_bytes(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    int64_t bytes = *(const int64_t *)field;

    if (bytes)
        option_put(a, o, arena_string(a, "%" PRId64, bytes), to);
}

const OptionType option_bytes = {read_bytes, put_bytes, sizeof(int64_t)};
