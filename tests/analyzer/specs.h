// Enumerates all specs of a mesh and says what each one means, independently of the analyzer's
// code. The analyzer's tests compare its results with these.
#ifndef SHARDCC_TESTS_ANALYZER_SPECS_H
#define SHARDCC_TESTS_ANALYZER_SPECS_H

#include "analyzer/sharding/sharding.h"

enum { MAX_SPECS = 400, MAX_STEPS = 32 };  // MAX_STEPS: of a reshard path

// Meshes whose axes have different links.
static const Mesh meshes[] = {
    {.n_axes = 2,
     .size = {2, 4},
     .name = {"dp", "tp"},
     .alpha = {3e-5, 2e-6},
     .beta = {1e-9, 7e-11}},
    {.n_axes = 3,
     .size = {2, 2, 2},
     .name = {"x0", "x1", "x2"},
     .alpha = {3e-5, 5e-6, 1e-6},
     .beta = {1.3e-9, 2e-10, 6e-11}},
};

// Does the spec make sense? Axes that split the same dim have distinct levels, counted from the
// outermost, and all partial axes have the same kind.
static inline bool is_meant(const Mesh *m, int rank, const Spec *s)
{
    int kind = 0;

    for (int a = 0; a < m->n_axes; a++) {
        bool is_taken[MAX_AXES] = {false};
        int n = 0;
        if (s->at[a] >= rank || (s->at[a] < 0 && s->level[a]))
            return false;
        for (int b = 0; b < m->n_axes && s->at[a] >= 0; b++)
            if (s->at[b] == s->at[a]) {
                if (is_taken[s->level[b]])
                    return false;
                is_taken[s->level[b]] = true;
                n++;
            }
        for (int k = 0; k < n; k++)
            if (!is_taken[k])
                return false;
        if (s->at[a] < -1 && kind && kind != s->at[a])
            return false;
        kind = s->at[a] < -1 ? s->at[a] : kind;
    }
    return true;
}

// Lists every spec of values of that rank; returns how many there are.
static inline int all_specs(const Mesh *m, int rank, Spec spec[MAX_SPECS])
{
    const int each = (rank + 4) * MAX_AXES;
    int n = 0, words = 1;

    for (int a = 0; a < m->n_axes; a++)
        words *= each;
    for (int w = 0; w < words; w++) {
        Spec s = {{-1, -1, -1, -1}, {0}};
        for (int a = 0, rest = w; a < m->n_axes; a++, rest /= each) {
            s.at[a] = (int8_t)(rest % each / MAX_AXES - 4);
            s.level[a] = (int8_t)(rest % MAX_AXES);
        }
        if (is_meant(m, rank, &s))
            spec[n++] = s;
    }
    return n;
}

static inline int coordinate(const Mesh *m, int axis, int rank)
{
    for (int a = m->n_axes - 1; a > axis; a--)
        rank /= m->size[a];
    return rank % m->size[axis];
}

// Returns a dim's chunk, and gives where the rank's shard begins and ends. The axes cut the dim
// one after the other.
static inline int64_t cut(const Mesh *m, const Spec *s, int dim, int64_t n, int rank,
                          int64_t *begin, int64_t *end)
{
    int64_t chunk = n;

    *begin = 0;
    *end = n;
    for (int level = 0; level < MAX_AXES; level++)
        for (int a = 0; a < m->n_axes; a++)
            if (s->at[a] == dim && s->level[a] == level) {
                chunk = (chunk + m->size[a] - 1) / m->size[a];
                *begin += coordinate(m, a, rank) * chunk;
                *begin = *begin < *end ? *begin : *end;
                *end = *begin + chunk < *end ? *begin + chunk : *end;
            }
    return chunk;
}

#endif
