// Tensors of floats whose elements may be halves in memory, for tests of kernels that take them.
#ifndef SHARDCC_TESTS_RUNTIME_HALVES_H
#define SHARDCC_TESTS_RUNTIME_HALVES_H

#include "runtime/rt_half.h"
#include "tests/runtime/kernels.h"

static inline bool is_half(RtType t) { return t == RT_BF16 || t == RT_F16; }

static inline const char *type_name(RtType t)
{
    return t == RT_BF16 ? "bf16" : t == RT_F16 ? "f16" : "f32";
}

// The number nearest to x that the type has.
static inline float rounded(RtType t, float x)
{
    return t == RT_BF16 ? rt_from_bf16(rt_to_bf16(x)) : t == RT_F16 ? rt_from_f16(rt_to_f16(x)) : x;
}

static inline float element(RtType t, const void *x, int64_t i)
{
    return t == RT_BF16  ? rt_from_bf16(((const RtBf16 *)x)[i])
           : t == RT_F16 ? rt_from_f16(((const RtF16 *)x)[i])
                         : ((const float *)x)[i];
}

static inline void set_element(RtType t, void *x, int64_t i, float value)
{
    if (t == RT_BF16)
        ((RtBf16 *)x)[i] = rt_to_bf16(value);
    else if (t == RT_F16)
        ((RtF16 *)x)[i] = rt_to_f16(value);
    else
        ((float *)x)[i] = value;
}

typedef struct Tensor {
    RtType type;
    int64_t n;
    void *data;    // n elements
    float *value;  // of the elements
} Tensor;

// A tensor of n numbers, rounded to its type. Takes `x`, which has 64 bytes more.
static inline Tensor tensor_of(RtType t, float *x, int64_t n)
{
    Tensor a = {t, n, NULL, x};
    size_t bytes = (size_t)((n + 1) * rt_type_bytes(t));

    if (posix_memalign(&a.data, 64, bytes))
        abort();
    for (int64_t i = 0; i < n; i++) {
        set_element(t, a.data, i, x[i]);
        x[i] = rounded(t, x[i]);
    }
    return a;
}

static inline Tensor draw_tensor(Random *r, RtType t, int64_t n)
{
    return tensor_of(t, draw_floats(r, n), n);
}

static inline void tensor_free(Tensor *a)
{
    free(a->data);
    free(a->value);
}

// Checks that each element of y is between the numbers of its type nearest to x - most and to
// x + most, or that both are NaN: so y may be rounded once, and its sum be off by `most`.
static inline void check_tensor(const char *what, RtType t, const void *y, const float *x,
                                int64_t n, double most)
{
    for (int64_t i = 0; i < n; i++) {
        float e = element(t, y, i), least = (float)((double)x[i] - most),
              largest = (float)((double)x[i] + most);
        if (!(e >= rounded(t, least) && e <= rounded(t, largest)) && !(e != e && x[i] != x[i]))
            fail_msg("%s, %s: element %" PRId64 " of %" PRId64 " is %.9g, not %.9g (limit %g)",
                     what, type_name(t), i, n, (double)e, (double)x[i], most);
    }
}

#endif
