// Products of a vector and a matrix in which + is min and * is +: the inner loops of message
// passing and of elimination. All give the same bits whatever the vectors' width, as min and + of
// two are exact steps; so the widest that the machine has do the work.
#include <float.h>

#include "solver/internal.h"

#if defined __x86_64__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

enum { LANES = 8 };

#define NUMBER double
#define DOWN minplus_down
#define ACROSS minplus_across
#include "solver/minplus.def"
#undef NUMBER
#undef DOWN
#undef ACROSS
#define NUMBER float
#define DOWN minplus_down_rough
#define ACROSS minplus_across_rough
#include "solver/minplus.def"

// out[l] = the least of itself and v + row[l]
WIDEST void minplus_row(const int64_t *restrict row, int n, int64_t v, int64_t *restrict out)
{
    for (int l = 0; l < n; l++) {
        int64_t x = v + row[l];
        out[l] = x < out[l] ? x : out[l];
    }
}

WIDEST void shifted_row(const int64_t *restrict row, int n, int shift, int64_t v,
                        int64_t *restrict out, int64_t *restrict bits)
{
    for (int l = 0; l < n; l++) {
        bool is_there = row[l] < COST_FORBIDDEN;
        int64_t x = (int64_t)((uint64_t)v + ((uint64_t)row[l] << shift));
        x = is_there ? x : INT64_MAX;
        out[l] = x < out[l] ? x : out[l];
        bits[l] |= is_there ? magnitude(row[l]) : 0;
    }
}

WIDEST void row_add(const double *restrict row, int n, double *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] += row[i];
}

WIDEST double row_least(const double *row, int n)
{
    double best[LANES], least = DBL_MAX;
    int i = 0;

    for (int j = 0; j < LANES; j++)
        best[j] = DBL_MAX;
    for (; i + LANES <= n; i += LANES)
#pragma GCC unroll 1  // or it isn't made of vectors
        for (int j = 0; j < LANES; j++)
            best[j] = row[i + j] < best[j] ? row[i + j] : best[j];
    for (; i < n; i++)
        least = row[i] < least ? row[i] : least;
    for (int j = 0; j < LANES; j++)
        least = best[j] < least ? best[j] : least;
    return least;
}

WIDEST void most_mark(const int64_t *restrict x, int n, int64_t most, int64_t *restrict mark)
{
    for (int i = 0; i < n; i++)
        mark[i] &= x[i] > most ? 0 : -1;
}
