// Finds periodic runs of a sequence: compares it, for each likely period, with itself shifted by
// the period.
#include "ir/passes/blocks/canonical.h"

#include <stdlib.h>

enum { MAX_PERIODS = 512 };

typedef struct Entry {
    uint64_t key;
    int at;
} Entry;

static int compare_entries(const void *a, const void *b)
{
    const Entry *p = a, *q = b;

    return p->key != q->key ? (p->key < q->key ? -1 : 1) : p->at - q->at;
}

// Counts, by distance, the pairs of equal elements that have no equal one between them.
static void count_distances(Arena *a, const uint64_t *s, int length, int *count)
{
    Entry *e = arena_array(a, Entry, length);

    for (int i = 0; i < length; i++)
        e[i] = (Entry){s[i], i};
    qsort(e, (size_t)length, sizeof *e, compare_entries);
    for (int i = 0; i + 1 < length; i++)
        if (e[i].key == e[i + 1].key)
            count[e[i + 1].at - e[i].at]++;
}

typedef struct Candidate {
    int period, count;
} Candidate;

static int compare_candidates(const void *a, const void *b)
{
    const Candidate *p = a, *q = b;

    return p->count != q->count ? q->count - p->count : p->period - q->period;
}

Run *find_runs(Arena *a, const uint64_t *s, int length, const uint64_t *const *hint, int n_hints,
               int *n)
{
    int *count = arena_array(a, int, length + 1), n_candidates = 0, cap = 0;
    Candidate *c = arena_array(a, Candidate, length + 1);
    Run *runs = NULL;

    *n = 0;
    count_distances(a, s, length, count);
    for (int i = 0; i < n_hints; i++)
        count_distances(a, hint[i], length, count);
    for (int p = 1; 2 * p <= length; p++)
        if (count[p])
            c[n_candidates++] = (Candidate){p, count[p]};
    qsort(c, (size_t)n_candidates, sizeof *c, compare_candidates);
    for (int k = 0; k < n_candidates && k < MAX_PERIODS; k++) {
        int p = c[k].period, begin = 0;
        for (int i = 0; i + p <= length; i++) {
            if (i + p < length && s[i] == s[i + p])
                continue;
            if (i - begin >= p)
                *arena_push(a, runs, *n, cap) = (Run){begin, i + p, p, false};
            begin = i + 1;
        }
    }
    return runs;
}
