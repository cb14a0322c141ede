// The place of the largest element along a dim, the first of equals; NaN is larger than all.
#include "runtime/cpu/internal.h"

enum { COLUMNS = 64 };  // lines that are searched side by side

#define SEARCH(T, name)                                                                            \
    static void name(const T *x, int64_t n, int64_t inner, int64_t lines, int64_t *y)              \
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
SEARCH(float, search_f32)
SEARCH(double, search_f64)
SEARCH(int8_t, search_i8)
SEARCH(int16_t, search_i16)
SEARCH(int32_t, search_i32)
SEARCH(int64_t, search_i64)
SEARCH(uint8_t, search_u8)
SEARCH(uint16_t, search_u16)
SEARCH(uint32_t, search_u32)
SEARCH(uint64_t, search_u64)

static void search(RtType t, const char *x, int64_t n, int64_t inner, int64_t lines, int64_t *y)
{
    switch (t) {
    case RT_F64:
        search_f64((const double *)x, n, inner, lines, y);
        break;
    case RT_I8:
        search_i8((const int8_t *)x, n, inner, lines, y);
        break;
    case RT_I16:
        search_i16((const int16_t *)x, n, inner, lines, y);
        break;
    case RT_I32:
        search_i32((const int32_t *)x, n, inner, lines, y);
        break;
    case RT_I64:
        search_i64((const int64_t *)x, n, inner, lines, y);
        break;
    case RT_U8:
    case RT_BOOL:
        search_u8((const uint8_t *)x, n, inner, lines, y);
        break;
    case RT_U16:
        search_u16((const uint16_t *)x, n, inner, lines, y);
        break;
    case RT_U32:
        search_u32((const uint32_t *)x, n, inner, lines, y);
        break;
    case RT_U64:
        search_u64((const uint64_t *)x, n, inner, lines, y);
        break;
    default:
        search_f32((const float *)x, n, inner, lines, y);
    }
}

void rt_arg_max(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, void *y, const void *x)
{
    int64_t groups = rt_ceil_div(inner, COLUMNS);

    if (n == 0) {
        rt_fill(rt, RT_I64, y, outer * inner, 0);
        return;
    }
#pragma omp parallel for num_threads(rt_team(rt, outer *n *inner)) schedule(static)
    for (int64_t i = 0; i < outer * groups; i++) {
        int64_t o = i / groups, c = i % groups * COLUMNS;
        const char *from = (const char *)x + (o * n * inner + c) * rt_type_bytes(t);

        search(t, from, n, inner, rt_least(COLUMNS, inner - c), (int64_t *)y + o * inner + c);
    }
}
