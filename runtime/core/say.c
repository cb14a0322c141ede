// Prints errors, warnings and notes, and finds the names that a misspelled word may mean.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/core.h"

static void say(const RtModel *m, const char *kind, const char *fmt, va_list args)
{
    char text[2048], clean[2560];

    vsnprintf(text, sizeof text, fmt, args);
    rt_printable(clean, sizeof clean, text);
    // Clears a progress line.
    fprintf(stderr, "%s%s: %s: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", m->name, kind,
            clean);
}

bool rt_error(const RtModel *m, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(m, "error", fmt, args);
    va_end(args);
    return false;
}

void rt_warn(const RtModel *m, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(m, "warning", fmt, args);
    va_end(args);
}

void rt_note(const char *fmt, ...)
{
    char text[1024], clean[1280];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rt_printable(clean, sizeof clean, text);
    fprintf(stderr, "  %s\n", clean);
}

enum { LONGEST_WORD = 40 };

// The edit distance: insertions, deletions and replacements (Wagner and Fischer 1974).
static int distance(const char *a, const char *b)
{
    int row[LONGEST_WORD + 1], n = (int)strlen(b);

    if (strlen(a) > LONGEST_WORD || n > LONGEST_WORD)
        return LONGEST_WORD;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int corner = row[0];

        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

const char *rt_nearest(const char *word, const char *const *names, int n)
{
    const char *found = NULL;
    int best = (int)strlen(word) / 3 + 1;

    for (int i = 0; i < n; i++) {
        int k = distance(word, names[i]);

        if (k < best) {
            best = k;
            found = names[i];
        }
    }
    return found;
}
