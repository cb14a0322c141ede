// Names: a hash map from strings to numbers, the most similar name, and glob patterns.
#include "base/base.h"

#include <ctype.h>
#include <string.h>

// The slot of `key`, or the free slot where it belongs. There is always a free one.
static int slot_of(const Map *m, const char *key)
{
    int mask = m->cap - 1;
    int i = (int)(hash_bytes(key, strlen(key), 0) & (uint64_t)mask);

    while (m->key[i] && strcmp(m->key[i], key))
        i = (i + 1) & mask;
    return i;
}

int32_t map_get(const Map *m, const char *key) { return m->cap ? m->value[slot_of(m, key)] : 0; }

static void map_resize(Map *m, int cap)
{
    Map old = *m;

    m->cap = cap;
    m->key = arena_array(m->arena, const char *, cap);
    m->value = arena_array(m->arena, int32_t, cap);
    for (int i = 0; i < old.cap; i++) {
        if (!old.key[i])
            continue;
        int p = slot_of(m, old.key[i]);
        m->key[p] = old.key[i];
        m->value[p] = old.value[i];
    }
    arena_drop(m->arena, old.key, (size_t)old.cap, sizeof *old.key);
    arena_drop(m->arena, old.value, (size_t)old.cap, sizeof *old.value);
}

void map_set(Map *m, const char *key, int32_t value)
{
    if (2 * (m->n + 1) > m->cap)
        map_resize(m, m->cap ? 2 * m->cap : 64);
    int p = slot_of(m, key);
    if (!m->key[p]) {
        m->key[p] = key;
        m->n++;
    }
    m->value[p] = value;
}

// MAX_WORD: bytes of the longest word that is compared. An edit costs EDIT_COST; a change of case
// costs a fourth of it, so that "adamW" is more similar to "adamw" than to "adam".
enum { MAX_WORD = 64, EDIT_COST = 4, CASE_COST = 1 };

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;

    return m < c ? m : c;
}

static int exchange_cost(char a, char b)
{
    if (a == b)
        return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? CASE_COST : EDIT_COST;
}

// Levenshtein distance in which a swap of two adjacent letters is one edit (optimal string
// alignment).
static int edit_distance(const char *a, int n_a, const char *b, int n_b)
{
    int d[MAX_WORD + 1][MAX_WORD + 1];

    for (int i = 0; i <= n_a; i++)
        d[i][0] = i * EDIT_COST;
    for (int j = 0; j <= n_b; j++)
        d[0][j] = j * EDIT_COST;
    for (int i = 1; i <= n_a; i++) {
        for (int j = 1; j <= n_b; j++) {
            d[i][j] = min3(d[i - 1][j] + EDIT_COST, d[i][j - 1] + EDIT_COST,
                           d[i - 1][j - 1] + exchange_cost(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = min3(d[i][j], d[i][j], d[i - 2][j - 2] + EDIT_COST);
        }
    }
    return d[n_a][n_b];
}

const char *nearest_name(const char *word, const char *const *names, int n)
{
    size_t length = strlen(word);
    int best = EDIT_COST * (length < 4 ? 2 : (int)length / 3 + 2);  // a match must be below this
    const char *nearest = NULL;

    if (length > MAX_WORD)
        return NULL;
    for (int i = 0; i < n; i++) {
        size_t other = strlen(names[i]);
        if (other > MAX_WORD)
            continue;
        int distance = edit_distance(word, (int)length, names[i], (int)other);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

bool glob_match(const char *glob, const char *name)
{
    const char *star = NULL, *resume = NULL;

    while (*name) {
        if (*glob == '*') {
            star = glob++;
            resume = name;
        } else if (*glob == '?' || *glob == *name) {
            glob++;
            name++;
        } else if (star) {  // extend the last star by one character
            glob = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}
