// Combines terms of several ranks by sum, maximum or minimum, in the order of the ranks. Halves are
// combined in f32, and rounded once.
#include "runtime/exchange/combine.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/rt_cpu.h"
#include "runtime/rt_half.h"

enum { BLOCK = 512 };  // elements that stay in the first-level cache between two terms

typedef void Combine(void *to, char *const *from, int n, int64_t first, int64_t last);

// Elements of T are combined as numbers of type S: `value` combines a and b. `load` and `store`
// turn one into the other.
#define COMBINE(T, S, load, store, name, value)                                                    \
    static void name(void *to, char *const *from, int n, int64_t first, int64_t last)              \
    {                                                                                              \
        S s[BLOCK];                                                                                \
                                                                                                   \
        for (int64_t at = first; at < last; at += BLOCK) {                                         \
            int64_t count = rt_least(BLOCK, last - at);                                            \
            const T *x = (const T *)(const void *)from[0] + at;                                    \
            T *y = (T *)to + at;                                                                   \
            RT_SIMD                                                                                \
            for (int64_t i = 0; i < count; i++)                                                    \
                s[i] = load(x[i]);                                                                 \
            for (int k = 1; k < n; k++) {                                                          \
                x = (const T *)(const void *)from[k] + at;                                         \
                RT_SIMD                                                                            \
                for (int64_t i = 0; i < count; i++) {                                              \
                    S a = s[i], b = load(x[i]);                                                    \
                    s[i] = (S)(value);                                                             \
                }                                                                                  \
            }                                                                                      \
            RT_SIMD                                                                                \
            for (int64_t i = 0; i < count; i++)                                                    \
                y[i] = store(s[i]);                                                                \
        }                                                                                          \
    }
#define COMBINE_INT(type, T, name)                                                                 \
    COMBINE(T, T, , , sum_##name, (uint64_t)a + (uint64_t)b)                                       \
    COMBINE(T, T, , , max_##name, a > b ? a : b)                                                   \
    COMBINE(T, T, , , min_##name, a < b ? a : b)
#define COMBINE_FLOAT(T, S, load, store, name, most, least)                                        \
    COMBINE(T, S, load, store, sum_##name, a + b)                                                  \
    COMBINE(T, S, load, store, max_##name, most(a, b))                                             \
    COMBINE(T, S, load, store, min_##name, least(a, b))
COMBINE_FLOAT(float, float, , , f32, rt_maxf, rt_minf)
COMBINE_FLOAT(double, double, , , f64, rt_max, rt_min)
COMBINE_FLOAT(RtBf16, float, rt_from_bf16, rt_to_bf16, bf16, rt_maxf, rt_minf)
COMBINE_FLOAT(RtF16, float, rt_from_f16, rt_to_f16, f16, rt_maxf, rt_minf)
RT_EACH_INT(COMBINE_INT)

static Combine *combine_of(RtType t, RtReduceOp op)
{
    switch (rt_plain(t)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        return op == RT_SUM ? sum_##name : op == RT_MAX ? max_##name : min_##name;
        RT_EACH_NUMBER(CASE)
        CASE(RT_BF16, , bf16)
        CASE(RT_F16, , f16)
    default:
        abort();
    }
}

void rt_combine(const Rt *rt, RtType t, RtReduceOp op, void *to, char *const *from, int n,
                int64_t count)
{
    int team = rt_team(rt, count * n);
    Combine *combine = combine_of(t, op);

#pragma omp parallel for num_threads(team) schedule(static)
    for (int i = 0; i < team; i++)
        combine(to, from, n, rt_partition(count, i, team), rt_partition(count, i + 1, team));
}
