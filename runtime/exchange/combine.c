// Combines terms of several ranks by sum, maximum or minimum, in the order of the ranks.
#include "runtime/exchange/combine.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/rt_cpu.h"

enum { BLOCK = 512 };  // elements that stay in the first-level cache between two terms

typedef void Combine(void *to, char *const *from, int n, int64_t first, int64_t last);

#define COMBINE(T, name, value)                                                                    \
    static void name(void *to, char *const *from, int n, int64_t first, int64_t last)              \
    {                                                                                              \
        T s[BLOCK];                                                                                \
                                                                                                   \
        for (int64_t at = first; at < last; at += BLOCK) {                                         \
            int64_t count = rt_least(BLOCK, last - at);                                            \
            memcpy(s, (const T *)(const void *)from[0] + at, sizeof(T) * (size_t)count);           \
            for (int k = 1; k < n; k++) {                                                          \
                const T *x = (const T *)(const void *)from[k] + at;                                \
                RT_SIMD                                                                            \
                for (int64_t i = 0; i < count; i++)                                                \
                    s[i] = (T)(value);                                                             \
            }                                                                                      \
            memcpy((T *)to + at, s, sizeof(T) * (size_t)count);                                    \
        }                                                                                          \
    }
#define COMBINE_INT(type, T, name)                                                                 \
    COMBINE(T, sum_##name, (uint64_t)s[i] + (uint64_t)x[i])                                        \
    COMBINE(T, max_##name, s[i] > x[i] ? s[i] : x[i])                                              \
    COMBINE(T, min_##name, s[i] < x[i] ? s[i] : x[i])
COMBINE(float, sum_f32, s[i] + x[i])
COMBINE(float, max_f32, rt_maxf(s[i], x[i]))
COMBINE(float, min_f32, rt_minf(s[i], x[i]))
COMBINE(double, sum_f64, s[i] + x[i])
COMBINE(double, max_f64, rt_max(s[i], x[i]))
COMBINE(double, min_f64, rt_min(s[i], x[i]))
RT_EACH_INT(COMBINE_INT)

static Combine *combine_of(RtType t, RtReduceOp op)
{
    switch (rt_plain(t)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        return op == RT_SUM ? sum_##name : op == RT_MAX ? max_##name : min_##name;
        RT_EACH_NUMBER(CASE)
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
