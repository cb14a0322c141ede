// Products of a vector and a matrix in which + is min and * is +: the inner loops of message
// passing. Both give the same bits whatever the vectors' width, as min and + of two are exact
// steps.
#include <float.h>

#include "solver/internal.h"

// out[l] = min over k of v[k] + m[k][l]
void minplus_down(const double *m, int n_a, int n_b, const double *restrict v, double *restrict out)
{
    for (int l = 0; l < n_b; l++)
        out[l] = v[0] + m[l];
    for (int k = 1; k < n_a; k++) {
        const double *row = m + (int64_t)k * n_b;
        for (int l = 0; l < n_b; l++) {
            double x = v[k] + row[l];
            out[l] = x < out[l] ? x : out[l];
        }
    }
}

static double row_min(const double *restrict row, int n, const double *restrict v)
{
    enum { LANES = 8 };
    double best[LANES], least = DBL_MAX;
    int l = 0;

    if (n >= LANES) {
        for (int j = 0; j < LANES; j++)
            best[j] = DBL_MAX;
        for (; l + LANES <= n; l += LANES)
            for (int j = 0; j < LANES; j++) {
                double x = row[l + j] + v[l + j];
                best[j] = x < best[j] ? x : best[j];
            }
        for (int j = 0; j < LANES; j++)
            least = best[j] < least ? best[j] : least;
    }
    for (; l < n; l++)
        least = row[l] + v[l] < least ? row[l] + v[l] : least;
    return least;
}

// out[k] = min over l of m[k][l] + v[l]
void minplus_across(const double *m, int n_a, int n_b, const double *v, double *out)
{
    for (int k = 0; k < n_a; k++)
        out[k] = row_min(m + (int64_t)k * n_b, n_b, v);
}
