// Elements of the operands of collectives, for tests/ranks/exchange.c: random ones, and how two are
// reduced.
#ifndef SHARDCC_TESTS_RANKS_ELEMENTS_H
#define SHARDCC_TESTS_RANKS_ELEMENTS_H

#include <string.h>

#include "runtime/rt_half.h"
#include "runtime/rt_workspace.h"

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// Draws floats whose sums are rounded, and integers whose sums wrap.
static inline void draw(RtType t, char *x, int64_t count, int rank)
{
    uint64_t u = mix((uint64_t)rank + 1);
    int bytes = rt_type_bytes(t);

    for (int64_t i = 0; i < count; i++) {
        u = u * 6364136223846793005 + 1442695040888963407;
        float f = (float)((int64_t)u >> 34) * 1e-6f;
        double d = (double)((int64_t)u >> 10) * 1e-9;
        uint64_t w = u >> 32 ^ u << 16;
        RtBf16 bf16 = rt_to_bf16(f);
        RtF16 f16 = rt_to_f16(f);
        const void *from = t == RT_F32    ? (void *)&f
                           : t == RT_F64  ? (void *)&d
                           : t == RT_BF16 ? (void *)&bf16
                           : t == RT_F16  ? (void *)&f16
                                          : (void *)&w;
        memcpy(x + i * bytes, from, (size_t)bytes);
    }
}

#define JOIN(T, sum)                                                                               \
    {                                                                                              \
        T a, b;                                                                                    \
        memcpy(&a, to, sizeof a);                                                                  \
        memcpy(&b, x, sizeof b);                                                                   \
        a = op == RT_SUM ? (T)(sum) : (op == RT_MAX) == (a > b) ? a : b;                           \
        memcpy(to, &a, sizeof a);                                                                  \
        return;                                                                                    \
    }
static inline void join(RtType t, RtReduceOp op, char *to, const char *x)
{
    switch (t) {
    case RT_F32:
        JOIN(float, a + b)
    case RT_F64:
        JOIN(double, a + b)
    case RT_I32:
        JOIN(int32_t, (uint32_t)a + (uint32_t)b)
    case RT_I64:
        JOIN(int64_t, (uint64_t)a + (uint64_t)b)
    default:
        JOIN(uint8_t, a + b)
    }
}

static inline RtType wide_of(RtType t) { return t == RT_BF16 || t == RT_F16 ? RT_F32 : t; }

// An element as the number that it is reduced as, which has 8 bytes at most: halves as f32.
static inline void widen(RtType t, char *to, const char *x)
{
    RtBf16 bf16;
    RtF16 f16;

    memcpy(&bf16, x, sizeof bf16);
    memcpy(&f16, x, sizeof f16);
    float f = t == RT_BF16 ? rt_from_bf16(bf16) : rt_from_f16(f16);
    if (t == RT_BF16 || t == RT_F16)
        memcpy(to, &f, sizeof f);
    else
        memcpy(to, x, (size_t)rt_type_bytes(t));
}

static inline void narrow(RtType t, char *to, const char *x)
{
    float f;

    memcpy(&f, x, sizeof f);
    RtBf16 bf16 = rt_to_bf16(f);
    RtF16 f16 = rt_to_f16(f);
    memcpy(to,
           t == RT_BF16  ? (void *)&bf16
           : t == RT_F16 ? (void *)&f16
                         : (const void *)x,
           (size_t)rt_type_bytes(t));
}

#endif
