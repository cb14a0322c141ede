// Mathematical functions of one element, for generated code, kernels and the compiler's tests.
//
// The f32 functions have no branches and no calls, so that loops over them are vectorized (gcc -O3
// -fno-math-errno -fno-trapping-math). Vector body and scalar tail give the same bits. They are
// within 2 units in the last place of the true value everywhere, with and without fused
// multiply-add (rt_exp_lowf: in its range): tests/runtime/math_test.c. Polynomials are minimax fits
// by Remez's exchange algorithm. The f64 functions are the C library's.
#ifndef SHARDCC_RT_MATH_H
#define SHARDCC_RT_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rt_half.h"
#include "rt_inline.h"
#include "rt_philox.h"
#include "rt_scalar.h"

// Adding and subtracting 3·2^22 (3·2^51) rounds to the nearest integer, ties to even, and leaves
// it in the low bits of the sum.
#define RT_ROUND 12582912.0f
#define RT_ROUND_DOUBLE 6755399441055744.0

RT_INLINE uint64_t rt_bits_double(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

RT_INLINE double rt_from_bits_double(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

RT_INLINE float rt_sqrtf(float x) { return sqrtf(x); }

// |x| with the sign bit of `s`.
RT_INLINE float rt_copy_signf(float x, float s)
{
    return rt_from_bits((rt_bits(x) & 0x7fffffff) | (rt_bits(s) & 0x80000000));
}

// a b + c, rounded once if the machine has the instruction. The compiler is told not to fuse by
// itself, so that a function gives the same bits wherever it is inlined.
#if defined(__CUDACC__)
#define RT_FMA(a, b, c) fmaf(a, b, c)
#elif defined(__FMA__) || defined(__FP_FAST_FMAF)
#define RT_FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#define RT_FMA(a, b, c) ((a) * (b) + (c))
#define RT_GROW(a, power) ((1 + (a)) * (power))
#endif

// (1 + a) times a power of two, rounded once if the result is normal. Without the instruction the
// sum comes first: a times the power may be subnormal.
#ifndef RT_GROW
#define RT_GROW(a, power) RT_FMA(a, power, power)
#endif

// e^x = 2^n e^r with r = x - n ln 2, |r| ≤ ln 2 / 2. ln 2 is split in two; the first part is so
// short that n times it is exact. Returns e^r - 1. n is computed from `bounded` instead of x,
// |bounded| < 2^21; t is n + round.
RT_INLINE float rt_exp_reduced(float x, float bounded, float round, float *t)
{
    *t = RT_FMA(bounded, 1.44269504f, round);
    float n = *t - round;
    float r = RT_FMA(n, 2.12194440e-4f, RT_FMA(n, -0.693359375f, x)), z = r * r;
    float low = RT_FMA(0.166665122f, r, 0.5f), high = RT_FMA(0.00836959761f, r, 0.0416661873f);
    float p = RT_FMA(RT_FMA(0.00139517128f, z, high), z, low);

    return RT_FMA(z, p, r);
}

// For -87 ≤ x ≤ 88, where the result is normal. The low bits of t are the exponent of 2^n; the
// shift drops the others.
RT_INLINE float rt_exp_normal(float x)
{
    float t, residual = rt_exp_reduced(x, x, RT_ROUND + 127, &t),
             power = rt_from_bits(rt_bits(t) << 23);

    return RT_GROW(residual, power);
}

// Below this x, e^x is less than 2^-126.
#define RT_EXP_MIN -87.3365402f

// For x ≤ 88: the bits of rt_expf, except that results below 2^-126 are 0; two thirds of its
// operations. Below RT_EXP_MIN the product is computed and discarded.
RT_INLINE float rt_exp_lowf(float x)
{
    float e = rt_exp_normal(x);

    return x < RT_EXP_MIN ? 0 : e;
}

// Multiplies by 2^n in two factors of half the exponent, for results that overflow or are
// subnormal. n is bounded by an integer minimum of the bits of x (positive floats have the order of
// their bits); inf and NaN propagate through e^r. Where the result is 0 (masked scores) no
// intermediate result is subnormal, because those are many times slower. e^r is halved, so that the
// bias is odd, as in rt_exp_normal: a tie of n, which only CPUs without FMA have, is rounded alike.
RT_INLINE float rt_expf(float x)
{
    int32_t bits = x < -104.0f ? 0 : (int32_t)rt_bits(x), most = (int32_t)rt_bits(89.0f);
    float bounded = rt_from_bits((uint32_t)(bits < most ? bits : most));
    float t, y = RT_FMA(rt_exp_reduced(x, bounded, RT_ROUND + 255, &t), 0.5f, 0.5f);
    uint32_t half = rt_bits(t) << 22 & 0xff800000;
    float e = y * rt_from_bits((rt_bits(t) << 23) - half) * rt_from_bits(half);

    return x < -104.0f ? 0 : e;
}

// e^x - 1 = 2^n (e^r - 1 + (1 - 2^-n)), where 1 - 2^-n is exact unless it decides the result. 2^n
// is 2 · 2^(n - 1), since n may be 128, and 2^-n is half of 2^(1 - n). Below -30 the result is -1.
RT_INLINE float rt_expm1f(float x)
{
    int32_t bits = x < -30.0f ? 0 : (int32_t)rt_bits(x), most = (int32_t)rt_bits(89.0f);
    float bounded = rt_from_bits((uint32_t)(bits < most ? bits : most));
    float t, residual = rt_exp_reduced(x, bounded, RT_ROUND + 126, &t);
    uint32_t exponent = rt_bits(t) << 23;
    float inverse = rt_from_bits((254u << 23) - exponent);
    float y = residual + (1 - 0.5f * inverse), e = (y + y) * rt_from_bits(exponent);

    return x < -30.0f ? -1 : e;
}

// e ln 2 + ln(1 + f) for 1 + f in [√½, √2): ln(1 + f) = f - f²/2 + f³ p(f).
RT_INLINE float rt_log_reduced(float f, float e)
{
    float z = f * f, p = 0.0674663782f;
    p = RT_FMA(p, f, -0.116756506f);
    p = RT_FMA(p, f, 0.118881628f);
    p = RT_FMA(p, f, -0.1240559f);
    p = RT_FMA(p, f, 0.142195523f);
    p = RT_FMA(p, f, -0.166679963f);
    p = RT_FMA(p, f, 0.200021192f);
    p = RT_FMA(p, f, -0.250000089f);
    p = RT_FMA(p, f, 0.333333135f);
    float residual = RT_FMA(e, -2.12194440e-4f, f * z * p);

    return RT_FMA(e, 0.693359375f, f + RT_FMA(-0.5f, z, residual));
}

// Added to the bits of x, puts the exponent of the power of two nearest to x at bit 23, with the
// bias 127: x / 2^e is in [√½, √2).
#define RT_LOG_BIAS (0x3f800000 - 0x3f3504f3)

RT_INLINE float rt_logf(float x)
{
    float wide = x * 8388608.0f;  // 2^23: subnormal numbers become normal
    float scaled = x < 0x1p-126f ? wide : x;
    float bias = x < 0x1p-126f ? 127 + 23 : 127;
    uint32_t u = rt_bits(scaled) + RT_LOG_BIAS;
    float e = (float)(int32_t)(u >> 23) - bias;
    float f = rt_from_bits((u & 0x007fffff) + 0x3f3504f3) - 1, y = rt_log_reduced(f, e);
    float special = x == 0 ? -INFINITY : NAN;
    float large = x < INFINITY ? y : x;

    return x > 0 ? large : special;
}

// ln(1 + x), with f = (1 + x) / 2^e - 1 = x / 2^e + (2^-e - 1), which rounds once and keeps all
// digits of a small x. 4 / 2^e is used, since e may be 128.
RT_INLINE float rt_log1pf(float x)
{
    uint32_t exponent = (rt_bits(1 + x) + RT_LOG_BIAS) >> 23;
    float four = rt_from_bits((256 - exponent) << 23), f = 0.25f * (x * four) + (0.25f * four - 1);
    float y = rt_log_reduced(f, (float)(int32_t)exponent - 127);
    float special = x == -1 ? -INFINITY : NAN;
    float large = x < INFINITY ? y : x;

    return x > -1 ? large : special;
}

// A polynomial for |x| < 0.625, else 1 - 2 / (e^2x + 1), which is 1 from 10 on.
RT_INLINE float rt_tanhf(float x)
{
    float a = rt_absf(x), z = x * x, w = z * z;
    float low = RT_FMA(0.133314416f, z, -0.333332807f),
          high = RT_FMA(0.0206390843f, z, -0.0537397154f);
    float p = RT_FMA(RT_FMA(-0.00570498453f, w, high), w, low);
    float small = RT_FMA(x * z, p, x);
    float c = a > 10 ? 10 : a;
    float large = 1 - 2 / (rt_exp_normal(2 * c) + 1);

    return rt_copy_signf(a < 0.625f ? small : large, x);
}

// atan t = t + t³ p(t²) for t in [0, 1]; beyond that atan x = π/2 - atan 1/x.
RT_INLINE float rt_atanf(float x)
{
    float a = rt_absf(x), inverse = 1 / a, t = a > 1 ? inverse : a, z = t * t, w = z * z;
    float p0 = RT_FMA(0.199937731f, z, -0.333331525f), p1 = RT_FMA(0.106660046f, z, -0.142110556f);
    float p2 = RT_FMA(0.0432118587f, z, -0.0755221397f);
    float p3 = RT_FMA(0.00292069186f, z, -0.0163679272f);
    float p = RT_FMA(RT_FMA(RT_FMA(p3, w, p2), w, p1), w, p0);
    float y = RT_FMA(t * z, p, t);
    float large = 1.57079637f - (y + 4.37113883e-8f);

    return rt_copy_signf(a > 1 ? large : y, x);
}

// A polynomial for |x| < 0.92, else 1 + e^(-x²) q(|x|), which is 1 from 4 on. The gradient of GELU
// contains the same e^(-x²), with the same cutoff, so the C compiler computes it once. Polynomials
// are summed in pairs (Estrin 1960): Horner's chain takes longer than all the rest.
RT_INLINE float rt_erff(float x)
{
    float a = rt_absf(x), z = x * x, w = z * z;
    float p0 = RT_FMA(-0.376124978f, z, 0.128379151f), p1 = RT_FMA(-0.0267677438f, z, 0.112818472f);
    float p2 = RT_FMA(-0.000599941937f, z, 0.00499484595f);
    float p = RT_FMA(RT_FMA(p2, w, p1), w, p0);
    float q0 = RT_FMA(1.05951631f, a, -0.988636672f), q1 = RT_FMA(0.453704566f, a, -0.813988149f);
    float q2 = RT_FMA(0.0457232744f, a, -0.17744939f);
    float q3 = RT_FMA(0.000462451164f, a, -0.00691600237f);
    float q = RT_FMA(RT_FMA(q3, z, q2), w, RT_FMA(q1, z, q0));
    float small = RT_FMA(x, p, x), bounded = RT_FMA(rt_exp_normal(-z), q, 1);
    float most = -z < RT_EXP_MIN ? 1 : bounded;
    float large = rt_from_bits(rt_bits(most) | (rt_bits(x) & 0x80000000));

    return a < 0.92f ? small : large;
}

// x = n π/2 + r, |r| ≤ π/4: returns r, and n modulo 4. n and π/2 are split into parts of at most 27
// bits, whose products are exact in double (Cody and Waite 1980). Accurate for |x| ≤ 2^40. Above
// that neighbouring floats are 10^4 periods apart and accuracy falls; from 2^50 on every x is
// treated as 2^50.
RT_INLINE float rt_quarter(float x, uint32_t *n_mod_4)
{
    double low = x < -0x1p50 ? -0x1p50 : x;
    double d = low > 0x1p50 ? 0x1p50 : low;
    double t = d * 0.63661977236758134308 + RT_ROUND_DOUBLE, n = t - RT_ROUND_DOUBLE;
    double high = (n * 0x1p-26 + RT_ROUND_DOUBLE - RT_ROUND_DOUBLE) * 0x1p26, residual = n - high;
    double r = (d - high * 0x1.921fb54p+0) - residual * 0x1.921fb54p+0;
    r = (r - high * 0x1.10b461p-30) - residual * 0x1.10b461p-30;
    r = (r - high * 0x1.a62633145c06ep-58) - residual * 0x1.a62633145c06ep-58;
    *n_mod_4 = (uint32_t)rt_bits_double(t) & 3;
    return (float)(x - x == 0 ? r : NAN);
}

// The sine of n π/2 + r.
RT_INLINE float rt_sin_quarter(float r, uint32_t n)
{
    float z = r * r;
    float s = r + r * z * ((-0.000195169778f * z + 0.00833217613f) * z - 0.166666552f);
    float c = 1 - (0.5f * z - z * z * ((2.44380917e-05f * z - 0.00138873642f) * z + 0.0416666456f));
    float y = n & 1 ? c : s;

    return rt_from_bits(rt_bits(y) ^ (n & 2) << 30);
}

RT_INLINE float rt_sinf(float x)
{
    uint32_t n;
    float r = rt_quarter(x, &n);

    return rt_sin_quarter(r, n);
}

RT_INLINE float rt_cosf(float x)
{
    uint32_t n;
    float r = rt_quarter(x, &n);

    return rt_sin_quarter(r, n + 1);
}

// ln x to 1e-15, x > 0 a normal double: with s = (m - 1) / (m + 1), ln m = 2 atanh s.
RT_INLINE double rt_log_wide(double x)
{
    uint64_t u = rt_bits_double(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    double e = rt_from_bits_double(u >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
    double m = rt_from_bits_double((u & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 0.16823032163032728;
    p = p * z + 0.18123387188193005;
    p = p * z + 0.22223379174374355;
    p = p * z + 0.2857141703113697;
    p = p * z + 0.40000000052832624;
    p = p * z + 0.666666666665862;
    return e * 0.69314718055994530942 + (2 * s + s * z * p);
}

// e^x to 1e-13, |x| ≤ 200.
RT_INLINE double rt_exp_wide(double x)
{
    double t = x * 1.4426950408889634074 + RT_ROUND_DOUBLE, n = t - RT_ROUND_DOUBLE;
    double r = x - n * 0.69314718055994530942;
    double p = 2.7643920306596755e-06;
    p = p * r + 2.4882258629955922e-05;
    p = p * r + 0.0001984116258995788;
    p = p * r + 0.0013888807621010304;
    p = p * r + 0.008333333388949142;
    p = p * r + 0.04166666698876858;
    p = p * r + 0.1666666666656712;
    p = p * r + 0.4999999999960458;
    return (1 + (r + r * r * p)) * rt_from_bits_double((rt_bits_double(t) + 1023) << 52);
}

// a^b = e^(b ln |a|), in double, with the special cases of C's Annex F.
RT_INLINE float rt_powf(float a, float b)
{
    float half = 0.5f * b, size = rt_absf(a), b_size = rt_absf(b);
    bool whole = rt_roundf(b) == b, odd = whole & (rt_roundf(half) != half);
    double l = rt_log_wide((double)size);
    double l0 = size == 0 ? -INFINITY : l, l1 = size == INFINITY ? INFINITY : l0;
    double w = (double)b * l1;
    double low = w < -200 ? -200 : w, c = low > 200 ? 200 : low;
    float y = (float)rt_exp_wide(c);
    float of_nan = size == size ? y : size;
    bool negative = odd & (rt_bits(a) >> 31 != 0);
    float with_sign = negative ? -of_nan : of_nan;
    bool is_nan = (a < 0) & !whole & (size < INFINITY) & (b == b);
    float real = is_nan ? NAN : with_sign;
    bool is_one = (b == 0) | (a == 1) | ((size == 1) & (b_size == INFINITY));

    return is_one ? 1 : real;
}

RT_INLINE double rt_sqrt(double x) { return sqrt(x); }
RT_INLINE double rt_exp(double x) { return exp(x); }
RT_INLINE double rt_expm1(double x) { return expm1(x); }
RT_INLINE double rt_log(double x) { return log(x); }
RT_INLINE double rt_log1p(double x) { return log1p(x); }
RT_INLINE double rt_sin(double x) { return sin(x); }
RT_INLINE double rt_cos(double x) { return cos(x); }
RT_INLINE double rt_tanh(double x) { return tanh(x); }
RT_INLINE double rt_atan(double x) { return atan(x); }
RT_INLINE double rt_erf(double x) { return erf(x); }
RT_INLINE double rt_pow(double a, double b) { return pow(a, b); }

#endif
