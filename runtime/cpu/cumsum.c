// Cumulative sums along a dim. Sums of f32 are kept in f64; integer sums wrap.
#include "runtime/cpu/internal.h"

enum { COLUMNS = 64 };  // lines that are summed side by side, if contiguous

// T: elements; S: sums.
#define SUMS(T, S, name)                                                                           \
    static void sums_##name(T *y, const T *x, int64_t n, int64_t inner, int64_t lines,             \
                            bool exclusive, bool reverse)                                          \
    {                                                                                              \
        S sum[COLUMNS] = {0};                                                                      \
                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            int64_t at = (reverse ? n - 1 - i : i) * inner;                                        \
            for (int64_t c = 0; c < lines; c++) {                                                  \
                S before = sum[c];                                                                 \
                sum[c] += (S)x[at + c];                                                            \
                y[at + c] = (T)(exclusive ? before : sum[c]);                                      \
            }                                                                                      \
        }                                                                                          \
    }
SUMS(float, double, f32)
SUMS(double, double, f64)
#define INT_SUMS(type, T, name) SUMS(T, uint64_t, name)
RT_EACH_INT(INT_SUMS)

void rt_cumsum(Rt *rt, const RtAlong *p, void *y, const void *x)
{
    int64_t n = p->n, inner = p->inner, groups = rt_ceil_div(inner, COLUMNS);

#pragma omp parallel for num_threads(rt_team(rt, p->outer *n *inner)) schedule(static)
    for (int64_t i = 0; i < p->outer * groups; i++) {
        int64_t c = i % groups * COLUMNS, at = i / groups * n * inner + c;
        int64_t lines = rt_least(COLUMNS, inner - c);

        switch (rt_plain(p->type)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        sums_##name((T *)y + at, (const T *)x + at, n, inner, lines, p->exclusive, p->reverse);    \
        break;
            RT_EACH_NUMBER(CASE)
        default:
            abort();
        }
    }
}
