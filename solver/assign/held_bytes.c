// The bytes held by slot, as a segment tree: adding over a range takes logarithmic time, and the
// peak is at the root. A node's `most` includes all that was added to its whole range.
#include "solver/assign/search.h"

Profile profile_new(Arena *a, int n_slots)
{
    Profile p = {.n = 1};

    while (p.n < n_slots)
        p.n *= 2;
    p.most = arena_array(a, int64_t, 2 * (int64_t)p.n);
    p.added = arena_array(a, int64_t, p.n);
    return p;
}

static void add_to(Profile *p, int node, int64_t bytes)
{
    p->most[node] += bytes;
    if (node < p->n)
        p->added[node] += bytes;
}

static void mend_above(Profile *p, int node)
{
    for (node /= 2; node; node /= 2) {
        int64_t x = p->most[2 * node], y = p->most[2 * node + 1];
        p->most[node] = (x > y ? x : y) + p->added[node];
    }
}

void profile_add(Profile *p, int first, int last, int64_t bytes)
{
    int low = first + p->n, high = last + p->n;

    for (int l = low, h = high; l < h; l /= 2, h /= 2) {
        if (l & 1)
            add_to(p, l++, bytes);
        if (h & 1)
            add_to(p, --h, bytes);
    }
    mend_above(p, low);
    mend_above(p, high - 1);
}

int profile_fullest(const Profile *p)
{
    int node = 1;

    while (node < p->n)
        node = 2 * node + (p->most[2 * node + 1] > p->most[2 * node]);
    return node - p->n;
}
