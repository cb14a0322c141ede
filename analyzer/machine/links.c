// Fits levels of links to the times of messages, sent between one pair of ranks at a time and by
// all ranks together.
//
// A level is a block of consecutive ranks, whose size is a multiple of the level before. Of all
// chains of such blocks, this file takes the one with the least error: the sum of distances to the
// level's medians, in logarithms. A single outlier then weighs no more than its distance. A finer
// chain always has less error. So a level must be clearly slower than the one before, by more than
// jitter explains.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/machine/machine.h"

// The least ratio between levels. With jitter of ± 15 %, two medians of the same thing differ by
// less: 1.15 / 0.85 = 1.35.
static const double MIN_LEVEL_RATIO = 1.4;

// The pairs of ranks inside blocks of `outer` ranks that aren't inside blocks of `inner` ranks.
typedef struct Level {
    int inner, outer;
    double alpha, beta;  // medians
    double error;        // of this level, then of the best chain that ends with it
    int before;          // the level before in that chain; -1: none
    bool is_possible;
} Level;

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare_numbers);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

// Returns the median of a level's pairs, and adds their distances from it to *error.
static double median_pair(const Level *l, int n, const double *pairs, double *buffer, double *error)
{
    int count = 0;

    for (int r = 0; r < n; r++)
        for (int s = 0; s < n; s++)
            if (r / l->outer == s / l->outer && r / l->inner != s / l->inner)
                buffer[count++] = fmax(pairs[(size_t)r * (size_t)n + (size_t)s], 1e-15);
    double middle = median(buffer, count);
    for (int i = 0; i < count; i++)
        *error += fabs(log(buffer[i] / middle));
    return middle;
}

static bool is_slower(const Level *l, const Level *inner)
{
    return l->alpha > MIN_LEVEL_RATIO * inner->alpha || l->beta > MIN_LEVEL_RATIO * inner->beta;
}

// Finds the best chain that ends with level l. Levels are sorted by their inner blocks, so all
// levels that can come before have been chained already.
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
        link[k] = (Link){.name = arena_string(a, "links of %d", level[i].outer),
                         .devices = level[i].outer,
                         .shared_by = 1,
                         .alpha = level[i].alpha,
                         .beta = level[i].beta};
    return link;
}

// ---- all ranks together ----

static double median_try(const Messages *m, const double *by_try, int stride, double *buffer)
{
    for (int i = 0; i < m->tries; i++)
        buffer[i] = by_try[i * m->ranks + stride];
    return median(buffer, m->tries);
}

// How many devices share a link of a level: the ratio of a message's time when all send together to
// its time alone. They are in one block of the level below. In the first level, all may share.
static int sharing(double times, int most)
{
    int shared_by = 1;

    times = fmax(times, 1);
    for (int k = 2; k <= most; k++)
        if (most % k == 0 && fabs(log(k / times)) < fabs(log(shared_by / times)))
            shared_by = k;
    return shared_by;
}

static void set_loads(const Messages *m, Link *link, int n, double *buffer)
{
    for (int i = 0; i < n; i++) {
        int inner = i ? link[i - 1].devices : 1, most = i ? inner : link[i].devices;
        link[i].shared_by = sharing(median_try(m, m->times, inner, buffer), most);
        link[i].overhead = median_try(m, m->overhead, inner, buffer);
    }
}

int links_fit(Arena *a, const Messages *m, Link **link)
{
    Arena *scratch = arena_new();
    int n = m->ranks, count = 0, cap = 0, last = -1, n_links;
    double *buffer = arena_array(scratch, double, n *n + m->tries);
    Level *level = NULL;

    for (int inner = 1; inner < n; inner++)
        for (int outer = 2 * inner; outer <= n && n % inner == 0; outer += inner) {
            if (n % outer)
                continue;
            Level l = {.inner = inner, .outer = outer};
            l.alpha = median_pair(&l, n, m->alpha, buffer, &l.error);
            l.beta = median_pair(&l, n, m->beta, buffer, &l.error);
            chain(level, count, &l);
            *arena_push(scratch, level, count, cap) = l;
            if (outer == n && l.is_possible && (last < 0 || l.error < level[last].error))
                last = count - 1;
        }
    *link = links_of(a, level, last, &n_links);
    set_loads(m, *link, n_links, buffer);
    arena_free(scratch);
    return n_links;
}
