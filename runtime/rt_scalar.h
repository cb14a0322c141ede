// Arithmetic on one element, for the cases where C's operators are undefined, trap, or treat NaN
// differently from the graph's operators. The compiler's reference evaluation and generated code
// both use it.
#ifndef SHARDCC_RT_SCALAR_H
#define SHARDCC_RT_SCALAR_H

#include <math.h>
#include <stdint.h>

#include "rt_inline.h"

// ---- integers: overflow wraps, x / 0 and x % 0 are 0 ----

RT_INLINE int64_t rt_add_int(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

RT_INLINE int64_t rt_sub_int(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

RT_INLINE int64_t rt_mul_int(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

RT_INLINE int64_t rt_neg_int(int64_t a) { return rt_sub_int(0, a); }
RT_INLINE int64_t rt_abs_int(int64_t a) { return a < 0 ? rt_neg_int(a) : a; }
RT_INLINE int64_t rt_sign_int(int64_t a) { return (a > 0) - (a < 0); }
RT_INLINE int64_t rt_max_int(int64_t a, int64_t b) { return a > b ? a : b; }
RT_INLINE int64_t rt_min_int(int64_t a, int64_t b) { return a < b ? a : b; }

// Truncates towards zero. -1 is handled separately because INT64_MIN / -1 traps.
RT_INLINE int64_t rt_div_int(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? rt_neg_int(a) : a / b;
}

RT_INLINE int64_t rt_mod_int(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

// Bits beyond the ends are lost; a shift to the right keeps the sign.
RT_INLINE int64_t rt_shift_left_int(int64_t a, int64_t b)
{
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}

RT_INLINE int64_t rt_shift_right_int(int64_t a, int64_t b)
{
    return a >> (b < 0 || b > 63 ? 63 : b);
}

// Truncates towards zero. Numbers out of range are clamped; NaN gives 0.
RT_INLINE int64_t rt_to_int(double x, int64_t least, int64_t most)
{
    return x != x ? 0 : x <= (double)least ? least : x >= (double)most ? most : (int64_t)x;
}

RT_INLINE uint64_t rt_to_u64(double x)
{
    return x > 0 ? x >= 0x1p64 ? UINT64_MAX : (uint64_t)x : 0;
}

// ---- floats: NaN propagates; the sign of 0 is 0; round takes ties to even ----

// Compiles to two instructions, a maximum and a selection for NaN. In a chain of maxima b is the
// maximum so far.
RT_INLINE float rt_maxf(float a, float b)
{
    float m = a > b ? a : b;

    return a != a ? a : m;
}

RT_INLINE float rt_minf(float a, float b)
{
    float m = a < b ? a : b;

    return a != a ? a : m;
}

RT_INLINE float rt_signf(float a) { return a != a ? a : (float)((a > 0) - (a < 0)); }
RT_INLINE float rt_absf(float a) { return fabsf(a); }
RT_INLINE float rt_floorf(float a) { return floorf(a); }
RT_INLINE float rt_roundf(float a) { return rintf(a); }
RT_INLINE float rt_modf(float a, float b) { return fmodf(a, b); }

RT_INLINE double rt_max(double a, double b)
{
    double m = a > b ? a : b;

    return a != a ? a : m;
}

RT_INLINE double rt_min(double a, double b)
{
    double m = a < b ? a : b;

    return a != a ? a : m;
}

RT_INLINE double rt_sign(double a) { return a != a ? a : (double)((a > 0) - (a < 0)); }
RT_INLINE double rt_abs(double a) { return fabs(a); }
RT_INLINE double rt_floor(double a) { return floor(a); }
RT_INLINE double rt_round(double a) { return rint(a); }
RT_INLINE double rt_mod(double a, double b) { return fmod(a, b); }

#endif
