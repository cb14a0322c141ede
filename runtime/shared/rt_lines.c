// Reads files of lines of text.
#include "runtime/rt_lines.h"

#include <string.h>

RtLines rt_lines(const uint8_t *data, size_t size, RtFileError *e)
{
    const char *text = (const char *)data;

    return (RtLines){.at = text, .end = text ? text + size : NULL, .error = e};
}

bool rt_lines_fail(const RtLines *l, const char *who)
{
    return rt_file_fail(l->error, "line %d isn't as %s writes it: '%.60s'", l->number, who,
                        l->line);
}

bool rt_lines_next(RtLines *l)
{
    const char *end = l->at < l->end ? memchr(l->at, '\n', (size_t)(l->end - l->at)) : NULL;

    l->number++;
    l->word = l->line;
    if (!end)
        return rt_file_fail(l->error, "it is cut short in line %d", l->number);
    size_t n = (size_t)(end - l->at);
    if (n >= sizeof l->line || memchr(l->at, 0, n))
        return rt_file_fail(l->error, "line %d is no text, or too long", l->number);
    memcpy(l->line, l->at, n);
    l->line[n] = 0;
    l->at = end + 1;
    return true;
}

bool rt_take(RtLines *l, const char *text)
{
    size_t n = strlen(text);

    if (strncmp(l->word, text, n) != 0)
        return false;
    l->word += n;
    return true;
}

bool rt_take_number(RtLines *l, int64_t most, int64_t *to)
{
    int64_t v = 0;
    const char *p = l->word;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v) ||
            v > most)
            return false;
    if (p == l->word)
        return false;
    l->word = p;
    *to = v;
    return true;
}

bool rt_take_rest(RtLines *l, char *to, size_t capacity)
{
    size_t n = strlen(l->word);

    if (n == 0 || n >= capacity)
        return false;
    memcpy(to, l->word, n + 1);
    l->word += n;
    return true;
}

bool rt_take_end(const RtLines *l) { return !*l->word; }
