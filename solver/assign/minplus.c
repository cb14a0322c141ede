// Products of a vector and a matrix with min for + and + for *: the inner loops of message passing
// and of elimination. min and + of two numbers are exact steps, so any vector width gives the same
// bits. The functions therefore use the widest vectors of the machine.
#include <float.h>

#include "solver/assign/internal.h"

#if defined __x86_64__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

enum { LANES = 8 };

// The least of all lanes, by halving: a chain of LANES - 1 steps would be slower.
static inline double least_lane(double x[LANES])
{
    for (int n = LANES / 2; n; n /= 2)
        for (int j = 0; j < n; j++)
            x[j] = x[j + n] < x[j] ? x[j + n] : x[j];
    return x[0];
}

#define NUMBER double
#define DOWN minplus_down
#define ACROSS minplus_across
#include "solver/assign/minplus.def"
#undef NUMBER
#undef DOWN
#undef ACROSS
#define NUMBER float
#define DOWN minplus_down_rough
#define ACROSS minplus_across_rough
#include "solver/assign/minplus.def"

WIDEST void minplus_whole(const int64_t *m, int n_a, int n_b, const int64_t *restrict v,
                          int64_t *restrict out)
{
    int k = 1;

    for (int l = 0; l < n_b; l++)
        out[l] = v[0] + m[l];
    for (; k + 4 <= n_a; k += 4) {
        const int64_t *r = m + (int64_t)k * n_b, *s = r + n_b, *t = s + n_b, *u = t + n_b;
        for (int l = 0; l < n_b; l++) {
            int64_t w = v[k] + r[l], x = v[k + 1] + s[l], y = v[k + 2] + t[l], z = v[k + 3] + u[l];
            w = w < x ? w : x;
            y = y < z ? y : z;
            w = w < y ? w : y;
            out[l] = w < out[l] ? w : out[l];
        }
    }
    for (; k < n_a; k++)
        for (int l = 0; l < n_b; l++) {
            int64_t x = v[k] + m[(int64_t)k * n_b + l];
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

WIDEST int64_t row_most(const int64_t *row, int64_t n)
{
    int64_t most = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t x = row[i] < 0 ? -row[i] : row[i];
        x = row[i] < COST_FORBIDDEN ? x : 0;
        most = x > most ? x : most;
    }
    return most;
}

WIDEST void row_add(const double *restrict row, int n, double *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] += row[i];
}

WIDEST void row_sum(const double *restrict a, const double *restrict b, int n, double *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] = a[i] + b[i];
}

WIDEST void row_less(const double *restrict a, const double *restrict b, int n, double *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] = a[i] - b[i];
}

WIDEST void row_scale(double by, int n, double *row)
{
    for (int i = 0; i < n; i++)
        row[i] *= by;
}

WIDEST double row_least(const double *row, int n)
{
    double best[LANES], least = DBL_MAX;
    int i = 0;

    for (int j = 0; j < LANES; j++)
        best[j] = DBL_MAX;
    for (; i + LANES <= n; i += LANES)
#pragma GCC unroll 1  // else GCC doesn't vectorize the loop
        for (int j = 0; j < LANES; j++)
            best[j] = row[i + j] < best[j] ? row[i + j] : best[j];
    for (; i < n; i++)
        least = row[i] < least ? row[i] : least;
    double lanes = least_lane(best);
    return lanes < least ? lanes : least;
}

WIDEST void most_mark(const int64_t *restrict x, int n, int64_t most, int64_t *restrict mark)
{
    for (int i = 0; i < n; i++)
        mark[i] &= x[i] > most ? 0 : -1;
}

WIDEST void row_range(const int64_t *row, int64_t n, int64_t *low, int64_t *high)
{
    int64_t least = INT64_MAX, most = -COST_FORBIDDEN;

    for (int64_t i = 0; i < n; i++) {
        int64_t x = row[i] < COST_FORBIDDEN ? row[i] : -COST_FORBIDDEN;
        least = row[i] < least ? row[i] : least;
        most = x > most ? x : most;
    }
    *low = least < COST_FORBIDDEN ? least : INT64_MAX;
    *high = most;
}

// Converts to double with one rounding: both 32-bit halves are exact doubles. Unlike a conversion
// from 64 bits, this vectorizes.
static inline double image(int64_t x)
{
    double high = (int32_t)(x >> 32), low = (uint32_t)x;

    return high * 0x1p32 + low;
}

WIDEST void row_image(const int64_t *restrict row, int n, double forbidden, double *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] = image(row[i]);
    for (int i = 0; i < n; i++)
        to[i] = row[i] < COST_FORBIDDEN ? to[i] : forbidden;
}

WIDEST void row_rough(const int64_t *restrict row, int n, double forbidden, float *restrict to)
{
    float most = (float)forbidden;

    for (int i = 0; i < n; i++)
        to[i] = (float)image(row[i]);
    for (int i = 0; i < n; i++)
        to[i] = row[i] < COST_FORBIDDEN ? to[i] : most;
}
