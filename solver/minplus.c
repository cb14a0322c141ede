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

// out[l] = min over k of v[k] + m[k][l], four rows at a time: out is read and written less often.
WIDEST void minplus_down(const double *m, int n_a, int n_b, const double *restrict v,
                         double *restrict out)
{
    int k = 1;

    for (int l = 0; l < n_b; l++)
        out[l] = v[0] + m[l];
    for (; k + 4 <= n_a; k += 4) {
        const double *r = m + (int64_t)k * n_b, *s = r + n_b, *t = s + n_b, *u = t + n_b;
        for (int l = 0; l < n_b; l++) {
            double w = v[k] + r[l], x = v[k + 1] + s[l], y = v[k + 2] + t[l], z = v[k + 3] + u[l];
            w = w < x ? w : x;
            y = y < z ? y : z;
            w = w < y ? w : y;
            out[l] = w < out[l] ? w : out[l];
        }
    }
    for (; k < n_a; k++) {
        const double *row = m + (int64_t)k * n_b;
        for (int l = 0; l < n_b; l++) {
            double x = v[k] + row[l];
            out[l] = x < out[l] ? x : out[l];
        }
    }
}

// out[l] = the least of itself and v + row[l]
WIDEST void minplus_row(const int64_t *restrict row, int n, int64_t v, int64_t *restrict out)
{
    for (int l = 0; l < n; l++) {
        int64_t x = v + row[l];
        out[l] = x < out[l] ? x : out[l];
    }
}

// out[k] = min over l of m[k][l] + v[l]
WIDEST void minplus_across(const double *m, int n_a, int n_b, const double *v, double *out)
{
    enum { LANES = 8 };
    double best[LANES];

    for (int k = 0; k < n_a; k++) {
        const double *row = m + (int64_t)k * n_b;
        double least = DBL_MAX;
        int l = 0;
        for (int j = 0; j < LANES; j++)
            best[j] = DBL_MAX;
        for (; l + LANES <= n_b; l += LANES)
#pragma GCC unroll 1  // or it isn't made of vectors
            for (int j = 0; j < LANES; j++) {
                double x = row[l + j] + v[l + j];
                best[j] = x < best[j] ? x : best[j];
            }
        for (; l < n_b; l++)
            least = row[l] + v[l] < least ? row[l] + v[l] : least;
        for (int j = 0; j < LANES; j++)
            least = best[j] < least ? best[j] : least;
        out[k] = least;
    }
}
