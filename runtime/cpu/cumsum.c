// Running sums along a dim; those of f32 are kept in f64.
#include "runtime/cpu/internal.h"

enum { COLUMNS = 64 };  // lines that are summed side by side

// T elements, summed in S.
#define SUMS(T, S, name)                                                                           \
    static void name(T *y, const T *x, int64_t n, int64_t inner, int64_t lines, bool exclusive,    \
                     bool reverse)                                                                 \
    {                                                                                              \
        S sum[COLUMNS] = {0};                                                                      \
                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            int64_t at = (reverse ? n - 1 - i : i) * inner;                                        \
            for (int64_t c = 0; c < lines; c++) {                                                  \
                S before = sum[c];                                                                 \
                sum[c] += x[at + c];                                                               \
                y[at + c] = (T)(exclusive ? before : sum[c]);                                      \
            }                                                                                      \
        }                                                                                          \
    }
SUMS(float, double, sums_f32)
SUMS(double, double, sums_f64)
SUMS(uint32_t, uint32_t, sums_i32)  // unsigned: sums wrap
SUMS(uint64_t, uint64_t, sums_i64)

void rt_cumsum(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, bool exclusive,
               bool reverse, void *y, const void *x)
{
    int64_t groups = rt_ceil_div(inner, COLUMNS);

#pragma omp parallel for num_threads(rt_team(rt, outer *n *inner)) schedule(static)
    for (int64_t i = 0; i < outer * groups; i++) {
        int64_t c = i % groups * COLUMNS, at = i / groups * n * inner + c;
        int64_t lines = rt_least(COLUMNS, inner - c);

        if (t == RT_F32)
            sums_f32((float *)y + at, (const float *)x + at, n, inner, lines, exclusive, reverse);
        else if (t == RT_F64)
            sums_f64((double *)y + at, (const double *)x + at, n, inner, lines, exclusive, reverse);
        else if (rt_type_bytes(t) == 4)
            sums_i32((uint32_t *)y + at, (const uint32_t *)x + at, n, inner, lines, exclusive,
                     reverse);
        else
            sums_i64((uint64_t *)y + at, (const uint64_t *)x + at, n, inner, lines, exclusive,
                     reverse);
    }
}
