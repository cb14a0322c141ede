// Makes identifiers of C from names of the model. The names aren't trusted.
#include <ctype.h>
#include <string.h>

#include "generator/identifiers.h"

// Parts of a path at most, from its end, and characters of a path's name.
enum { MAX_PARTS = 8, LONGEST = 36 };

// The beginnings of macros in the headers that a text includes.
static const char *const reserved[] = {
    "FP_",      "HUGE_VAL", "INFINITY", "INT8", "INT16",  "INT32", "INT64",    "INT_",
    "INTMAX",   "INTPTR",   "MATH_",    "M_",   "NAN",    "NULL",  "PTRDIFF_", "RT_",
    "SHARDCC_", "SIG_",     "SIZE_",    "UINT", "WCHAR_", "WINT_",
};

typedef struct Path {
    const char *part[MAX_PARTS];  // the last ones
    int n;
} Path;

// "C_ATTN" from "c_attn"; other characters than letters and digits become one line.
static char *upper_word(Arena *a, const char *s, size_t n)
{
    char *to = arena_copy(a, s, n);
    size_t length = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 128 && isalnum(c))
            to[length++] = (char)toupper(c);
        else if (length && to[length - 1] != '_')
            to[length++] = '_';
    }
    length -= length && to[length - 1] == '_';
    to[length] = 0;
    return to;
}

static Path path_of(Arena *a, const char *s)
{
    Path p = {.n = 0};

    while (*s) {
        size_t n = strcspn(s, "./");
        char *word = upper_word(a, s, n < LONGEST ? n : LONGEST);
        if (*word && p.n == MAX_PARTS) {
            memmove(p.part, p.part + 1, sizeof *p.part * (MAX_PARTS - 1));
            p.n--;
        }
        if (*word)
            p.part[p.n++] = word;
        s += n + (s[n] != 0);
    }
    return p;
}

// Joins the last `n` parts.
static char *join(Arena *a, const Path *p, int n)
{
    char *s = arena_string(a, "%s", n ? p->part[p->n - 1] : "");

    for (int i = 2; i <= n; i++)
        s = arena_string(a, "%s_%s", p->part[p->n - i], s);
    return s;
}

void identifiers_add(Identifiers *x, const char *path)
{
    Path p = path_of(x->known.arena, path);
    char *whole = join(x->known.arena, &p, p.n);

    if (map_get(&x->known, whole))
        return;
    map_set(&x->known, whole, 1);
    for (int i = 1; i <= p.n; i++) {
        char *end = join(x->known.arena, &p, i);
        map_set(&x->ends, end, map_get(&x->ends, end) + 1);
    }
}

char *identifier_of(Identifiers *x, const char *path, int least)
{
    Path p = path_of(x->known.arena, path);
    int n = p.n < least ? p.n : least;
    char *s = join(x->known.arena, &p, n);

    while (n < p.n && map_get(&x->ends, s) > 1) {
        char *longer = join(x->known.arena, &p, ++n);
        if (strlen(longer) > LONGEST)
            break;
        s = longer;
    }
    if (strlen(s) > LONGEST)
        s[LONGEST] = 0;
    return s;
}

static bool is_reserved(const char *s)
{
    for (int i = 0; i < COUNT(reserved); i++)
        if (!strncmp(s, reserved[i], strlen(reserved[i])))
            return true;
    return !isalpha((unsigned char)*s);
}

const char *identifier_take(Identifiers *x, const char *name)
{
    Arena *a = x->known.arena;
    const char *s = is_reserved(name) ? arena_string(a, "MODEL_%s", name) : name;
    int uses = map_get(&x->taken, s);

    map_set(&x->taken, s, uses + 1);
    return uses ? identifier_take(x, arena_string(a, "%s_%d", s, uses + 1)) : s;
}
