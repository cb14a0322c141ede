// Discrete Fourier transforms: the waves and the factors by which the compiler's reference
// evaluation and the kernels of CPUs and GPUs compute them.
#ifndef SHARDCC_RT_DFT_H
#define SHARDCC_RT_DFT_H

#include <math.h>
#include <stdint.h>

#include "rt_inline.h"

// The cosine and sine of part k of a circle of n parts, exact where they are 0 or 1: angles are
// reduced to an eighth of the circle.
RT_INLINE void rt_wave(int64_t k, int64_t n, double *re, double *im)
{
    double turn = 4 * (double)k / (double)n, quarter = rint(turn);
    double angle = (turn - quarter) * 1.57079632679489661923, c = cos(angle), s = sin(angle);
    int at = (int)quarter & 3;

    *re = at == 0 ? c : at == 1 ? -s : at == 2 ? -c : s;
    *im = at == 0 ? s : at == 1 ? c : at == 2 ? -s : -c;
}

// The smallest prime factor of n; 1 has 1.
RT_INLINE int64_t rt_smallest_factor(int64_t n)
{
    int64_t p = 2;

    while (p * p <= n && n % p)
        p++;
    return n % p ? n : p;
}

#endif
