// Single elements of tensors.
#include "runtime/rt_element.h"

#include <math.h>

#include "runtime/rt_math.h"
#include "runtime/rt_workspace.h"

// The nearest f16, ties to even.
static uint16_t half_of(float x)
{
    uint32_t u = rt_bits(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;

    if (x != x)
        return 0x7e00;
    if (rt_absf(x) >= 65520)
        return (uint16_t)(sign | 0x7c00);
    if (rt_absf(x) < 0x1p-14f)
        return (uint16_t)(sign | (uint32_t)rintf(rt_absf(x) * 0x1p24f));
    return (uint16_t)(sign | (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13);
}

// The nearest bf16, ties to even.
static uint16_t bfloat_of(float x)
{
    uint32_t u = rt_bits(x);

    return (uint16_t)(x != x ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}

uint64_t rt_element_bits(RtType t, double value)
{
    switch (t) {
    case RT_F64:
        return rt_bits_double(value);
    case RT_F32:
        return rt_bits((float)value);
    case RT_F16:
        return half_of((float)value);
    case RT_BF16:
        return bfloat_of((float)value);
    case RT_BOOL:
        return value != 0;
    case RT_U64:
        return rt_to_u64(value);
    default:
        return (uint64_t)rt_to_int(value, INT64_MIN, INT64_MAX);
    }
}

double rt_identity(RtType t, RtReduceOp op)
{
    bool is_float = t == RT_F32 || t == RT_F64 || t == RT_F16 || t == RT_BF16;
    bool is_unsigned = t == RT_BOOL || t == RT_U8 || t == RT_U16 || t == RT_U32;
    // u64 is ordered as i64.
    int bits = 8 * rt_type_bytes(t) - !is_unsigned;

    if (op == RT_SUM)
        return 0;
    if (is_float)
        return op == RT_MAX ? -INFINITY : INFINITY;
    if (op == RT_MAX)
        return is_unsigned ? 0 : -ldexp(1, bits);
    return t == RT_BOOL ? 1 : ldexp(1, bits) - 1;
}
