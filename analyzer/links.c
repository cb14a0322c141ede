// From how long messages take between each two ranks to the levels of links.
//
// Levels are blocks of ranks in a row, each a multiple of the one before. Of all such chains of
// blocks, that one is taken whose levels' medians leave the least error, as a sum of logarithms:
// what one measurement has against it then weighs no more than it is. A finer chain always leaves
// less; so a level counts only if it is clearly slower than the one before, by more than jitter
// makes of one.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyzer.h"

// Two medians of what is the same differ by less, with ± 15 % of jitter: 1.15 / 0.85.
static const double CLEARLY = 1.4;

// The pairs inside blocks of `outer` ranks that aren't inside blocks of `inner`.
typedef struct Level {
    int inner, outer;
    double alpha, beta;  // medians
    double error;        // of this level, then of the best chain that ends with it
    int before;          // in that chain; -1: it is the first
    bool is_possible;
} Level;

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

// The median of a level's pairs; adds their distances from it to *error.
static double median(const Level *l, int n, const double *pairs, double *room, double *error)
{
    int count = 0;

    for (int r = 0; r < n; r++)
        for (int s = 0; s < n; s++)
            if (r / l->outer == s / l->outer && r / l->inner != s / l->inner)
                room[count++] = fmax(pairs[(size_t)r * (size_t)n + (size_t)s], 1e-15);
    qsort(room, (size_t)count, sizeof *room, compare_numbers);
    double middle = (room[(count - 1) / 2] + room[count / 2]) / 2;
    for (int i = 0; i < count; i++)
        *error += fabs(log(room[i] / middle));
    return middle;
}

static bool is_slower(const Level *l, const Level *inner)
{
    return l->alpha > CLEARLY * inner->alpha || l->beta > CLEARLY * inner->beta;
}

// Levels stand in the order of their inner blocks, so those that can come before are known.
static void chain(Level *level, int n, Level *l)
{
    int best = -1;

    for (int i = 0; i < n; i++)
        if (level[i].outer == l->inner && level[i].is_possible && is_slower(l, &level[i]) &&
            (best < 0 || level[i].error < level[best].error))
            best = i;
    l->before = best;
    l->is_possible = l->inner == 1 || best >= 0;
    l->error += best >= 0 ? level[best].error : 0;
}

static Link *links_of(Arena *a, const Level *level, int last, int *n)
{
    *n = 0;
    for (int i = last; i >= 0; i = level[i].before)
        ++*n;
    Link *link = arena_array(a, Link, *n);
    for (int i = last, k = *n - 1; i >= 0; i = level[i].before, k--)
        link[k] = (Link){arena_string(a, "links of %d", level[i].outer), level[i].outer, 1,
                         level[i].alpha, level[i].beta};
    return link;
}

int links_fit(Arena *a, int n, const double *alpha, const double *beta, Link **link)
{
    Arena *scratch = arena_new();
    double *room = arena_array(scratch, double, (size_t)n *(size_t)n);
    Level *level = NULL;
    int count = 0, cap = 0, last = -1, n_links;

    for (int inner = 1; inner < n; inner++)
        for (int outer = 2 * inner; outer <= n && n % inner == 0; outer += inner) {
            if (n % outer)
                continue;
            Level l = {.inner = inner, .outer = outer};
            l.alpha = median(&l, n, alpha, room, &l.error);
            l.beta = median(&l, n, beta, room, &l.error);
            chain(level, count, &l);
            *arena_push(scratch, level, count, cap) = l;
            if (outer == n && l.is_possible && (last < 0 || l.error < level[last].error))
                last = count - 1;
        }
    *link = links_of(a, level, last, &n_links);
    arena_free(scratch);
    return n_links;
}
