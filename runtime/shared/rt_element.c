// Single elements of tensors.
#include "runtime/rt_element.h"

#include <math.h>

#include "runtime/rt_math.h"
#include "runtime/rt_workspace.h"

uint64_t rt_element_bits(RtType t, double value)
{
    switch (t) {
    case RT_F64:
        return rt_bits_double(value);
    case RT_F32:
        return rt_bits((float)value);
    case RT_F16:
        return rt_to_f16((float)value).bits;
    case RT_BF16:
        return rt_to_bf16((float)value).bits;
    case RT_BOOL:
        return value != 0;
    case RT_U64:
        return rt_to_u64(value);
    default:
        return (uint64_t)rt_to_int(value, INT64_MIN, INT64_MAX);
    }
}

// ---- floats of other types ----

static double load_float(RtType t, const char *p)
{
    uint16_t half;
    uint32_t u;
    double x;

    if (t == RT_F64) {
        memcpy(&x, p, sizeof x);
        return x;
    }
    if (t == RT_F32) {
        memcpy(&u, p, sizeof u);
        return (double)rt_from_bits(u);
    }
    memcpy(&half, p, sizeof half);
    return (double)(t == RT_F16 ? rt_from_f16((RtF16){half}) : rt_from_bf16((RtBf16){half}));
}

int64_t rt_round_floats(RtType to, void *y, RtType from, const void *x, int64_t n)
{
    static const int bytes[] = {[RT_F32] = 4, [RT_F64] = 8, [RT_F16] = 2, [RT_BF16] = 2};
    bool is_half = rt_is_half(to);
    const char *p = x;
    char *q = y;
    int64_t infinite = 0;

    for (int64_t i = 0; i < n; i++, p += bytes[from], q += bytes[to]) {
        double v = load_float(from, p);
        uint64_t u = rt_element_bits(to, is_half ? (double)rt_to_odd(v) : v);
        memcpy(q, &u, (size_t)bytes[to]);
        infinite += to != RT_F64 && isfinite(v) && isinf(load_float(to, q));
    }
    return infinite;
}

double rt_identity(RtType t, RtReduceOp op)
{
    bool is_float = t == RT_F32 || t == RT_F64 || rt_is_half(t);
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
