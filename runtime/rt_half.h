// Floats of 16 bits in memory: bf16 and IEEE 754's binary16, f16. Arithmetic is in f32; these
// functions convert one element, without branches, so that loops over them are vectorized.
#ifndef SHARDCC_RT_HALF_H
#define SHARDCC_RT_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "rt_inline.h"

// One element in memory. They are structs so that no compiler takes one for a number.
typedef struct RtBf16 {
    uint16_t bits;
} RtBf16;

typedef struct RtF16 {
    uint16_t bits;
} RtF16;

RT_INLINE uint32_t rt_bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

RT_INLINE float rt_from_bits(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

// The next float towards 0, with an odd last bit unless it is exact: rounding it to a half then
// gives what rounding the double would.
RT_INLINE float rt_to_odd(double x)
{
    float f = (float)x;
    uint32_t u = rt_bits(f);

    if ((double)f == x || x != x)
        return f;
    return rt_from_bits((u - (fabs((double)f) > fabs(x))) | 1);
}

// ---- bf16: the upper half of an f32 ----

RT_INLINE float rt_from_bf16(RtBf16 x) { return rt_from_bits((uint32_t)x.bits << 16); }

// Rounds to nearest, ties to even. NaN stays NaN.
RT_INLINE RtBf16 rt_to_bf16(float x)
{
    uint32_t u = rt_bits(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    RtBf16 y = {(uint16_t)(x != x ? u >> 16 | 0x40 : rounded)};

    return y;
}

// ---- f16: 5 bits of exponent, 10 of mantissa ----

// The bits, moved to where an f32 has them, are the number times 2^-112, subnormals included.
RT_INLINE float rt_from_f16(RtF16 x)
{
    uint32_t u = (uint32_t)(x.bits & 0x7fff) << 13, sign = (uint32_t)(x.bits & 0x8000) << 16;
    uint32_t finite = rt_bits(rt_from_bits(u) * 0x1p112f);

    return rt_from_bits(sign | (u >= 0x0f800000 ? u | 0x7f800000 : finite));
}

// Rounds to nearest, ties to even: to a subnormal by adding 1/2, whose last bit is worth the least
// f16; else with the bits that are cut off. Numbers from 65520 on become infinite, NaN stays NaN.
RT_INLINE RtF16 rt_to_f16(float x)
{
    enum { MIN_NORMAL = 0x38800000, TOO_LARGE = 0x47800000, INFINITE = 0x7f800000 };
    uint32_t u = rt_bits(x), size = u & 0x7fffffff;
    uint32_t low = rt_bits(rt_from_bits(size) + 0.5f) - 0x3f000000;
    uint32_t normal = (size - (112U << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    uint32_t y = size < MIN_NORMAL ? low : normal;

    y = size >= TOO_LARGE ? 0x7c00 : y;
    y = size > INFINITE ? 0x7e00 : y;
    RtF16 half = {(uint16_t)((u >> 16 & 0x8000) | y)};
    return half;
}

#endif
