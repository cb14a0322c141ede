// Finds sizes in the texts of functions, and replaces them by parameters.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "generator/group/sized_text.h"

// The length of the number or word at `s`; 0: there is none.
static size_t word_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]) || s[n] == '_' || (s[n] == '.' && n))
        n++;
    return n;
}

// Is the word a size? A number in square brackets is the length of an array, or an index.
static bool is_size(const char *s, size_t n, bool in_brackets, int64_t least)
{
    return !in_brackets && strspn(s, "0123456789") == n && n < 18 && atoll(s) >= least;
}

SizedText sized_text(Arena *a, const char *text, int64_t least)
{
    int64_t *size = arena_array(a, int64_t, strlen(text));
    SizedText s = {0};
    Text t = {0};
    int depth = 0;

    for (const char *at = text; *at;) {
        size_t n = word_length(at);
        depth += (*at == '[') - (*at == ']');
        if (n && is_size(at, n, depth, least)) {
            size[s.n_holes++] = atoll(at);
            text_printf(&t, "#");
        } else {
            text_put(&t, at, n ? n : 1);
        }
        at += n ? n : 1;
    }
    s.text = arena_copy(a, t.s, t.n);
    text_free(&t);
    sized_text_add(a, &s, size);
    return s;
}

int sized_text_add(Arena *a, SizedText *s, const int64_t *size)
{
    size_t bytes = sizeof *size * (size_t)s->n_holes;

    for (int i = 0; i < s->n_variants; i++)
        if (!s->n_holes || !memcmp(s->variant[i], size, bytes))
            return i;
    int64_t *copy = arena_array(a, int64_t, s->n_holes + 1);
    if (bytes)
        memcpy(copy, size, bytes);
    *arena_push(a, s->variant, s->n_variants, s->cap_variants) = copy;
    return s->n_variants - 1;
}

// Are two holes the same in all variants?
static bool are_same(const SizedText *s, int i, int k)
{
    for (int v = 0; v < s->n_variants; v++)
        if (s->variant[v][i] != s->variant[v][k])
            return false;
    return true;
}

static bool differs(const SizedText *s, int i)
{
    for (int v = 1; v < s->n_variants; v++)
        if (s->variant[v][i] != s->variant[0][i])
            return true;
    return false;
}

// The first hole that is the same as hole i in all variants.
static int first_same(const SizedText *s, int i)
{
    int k = 0;

    while (!are_same(s, i, k))
        k++;
    return k;
}

// The number of hole i's parameter; -1: it has the same size in all variants.
static int parameter(const SizedText *s, int i)
{
    int n = 0;

    if (!differs(s, i))
        return -1;
    i = first_same(s, i);
    for (int k = 0; k < i; k++)
        n += differs(s, k) && first_same(s, k) == k;
    return n;
}

int sized_text_parameters(const SizedText *s, int variant, int64_t *size)
{
    int n = 0;

    for (int i = 0; i < s->n_holes; i++)
        if (parameter(s, i) == n)
            size[n++] = s->variant[variant][i];
    return n;
}

char *sized_text_fill(Arena *a, const SizedText *s)
{
    Text t = {0};
    int hole = 0;

    for (const char *at = s->text; *at; at++) {
        if (*at != '#') {
            text_put(&t, at, 1);
            continue;
        }
        int n = parameter(s, hole);
        if (n >= 0)
            text_printf(&t, "n%d", n);
        else
            text_printf(&t, "%" PRId64, s->variant[0][hole]);
        hole++;
    }
    char *text = arena_copy(a, t.s, t.n);
    text_free(&t);
    return text;
}
