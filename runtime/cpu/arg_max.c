// The index of the largest element along a dim: the first of equals; NaN counts as the largest.
#include "runtime/cpu/internal.h"

enum { COLUMNS = 64 };  // lines that are searched side by side, if contiguous

#define SEARCH(type, T, name)                                                                      \
    static void search_##name(const T *x, int64_t n, int64_t inner, int64_t lines, int64_t *y)     \
    {                                                                                              \
        T best[COLUMNS];                                                                           \
                                                                                                   \
        for (int64_t c = 0; c < lines; c++) {                                                      \
            best[c] = x[c];                                                                        \
            y[c] = 0;                                                                              \
        }                                                                                          \
        for (int64_t i = 1; i < n; i++)                                                            \
            for (int64_t c = 0; c < lines; c++) {                                                  \
                T v = x[i * inner + c];                                                            \
                bool is_better = (v > best[c]) | ((v != v) & (best[c] == best[c]));                \
                best[c] = is_better ? v : best[c];                                                 \
                y[c] = is_better ? i : y[c];                                                       \
            }                                                                                      \
    }
RT_EACH_NUMBER(SEARCH)

static void search(RtType t, const char *x, int64_t n, int64_t inner, int64_t lines, int64_t *y)
{
    switch (rt_plain(t)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        search_##name((const T *)x, n, inner, lines, y);                                           \
        break;
        RT_EACH_NUMBER(CASE)
    default:
        abort();
    }
}

void rt_arg_max(Rt *rt, const RtAlong *p, void *y, const void *x)
{
    int64_t n = p->n, inner = p->inner, groups = rt_ceil_div(inner, COLUMNS);

    if (n == 0) {
        rt_fill(rt, RT_I64, y, p->outer * inner, 0);
        return;
    }
#pragma omp parallel for num_threads(rt_team(rt, p->outer *n *inner)) schedule(static)
    for (int64_t i = 0; i < p->outer * groups; i++) {
        int64_t o = i / groups, c = i % groups * COLUMNS;
        const char *from = (const char *)x + (o * n * inner + c) * rt_type_bytes(p->type);

        search(p->type, from, n, inner, rt_least(COLUMNS, inner - c), (int64_t *)y + o * inner + c);
    }
}
