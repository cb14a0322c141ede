// The k largest elements along a dim, descending; of equals the first comes first; NaN counts as
// the largest. The result itself holds a heap of k elements with the smallest on top; heapsort then
// orders it.
#include "runtime/cpu/internal.h"

// One line along the dim. Element i of the heap is at i * inner.
#define LINE(type, T, name)                                                                        \
    static bool worse_##name(const T *v, const int64_t *at, int64_t i, int64_t j)                  \
    {                                                                                              \
        bool nan_i = v[i] != v[i], nan_j = v[j] != v[j];                                           \
                                                                                                   \
        if (v[i] == v[j] || (nan_i && nan_j))                                                      \
            return at[i] > at[j];                                                                  \
        return nan_j || v[i] < v[j];                                                               \
    }                                                                                              \
                                                                                                   \
    static void swap_##name(T *v, int64_t *at, int64_t i, int64_t j)                               \
    {                                                                                              \
        T value = v[i];                                                                            \
        int64_t index = at[i];                                                                     \
                                                                                                   \
        v[i] = v[j];                                                                               \
        at[i] = at[j];                                                                             \
        v[j] = value;                                                                              \
        at[j] = index;                                                                             \
    }                                                                                              \
                                                                                                   \
    static void sink_##name(T *v, int64_t *at, int64_t i, int64_t k, int64_t inner)                \
    {                                                                                              \
        for (int64_t child; (child = 2 * i + 1) < k; i = child) {                                  \
            if (child + 1 < k && worse_##name(v, at, (child + 1) * inner, child * inner))          \
                child++;                                                                           \
            if (worse_##name(v, at, i * inner, child * inner))                                     \
                return;                                                                            \
            swap_##name(v, at, i *inner, child *inner);                                            \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void line_##name(const T *x, int64_t n, int64_t inner, int64_t k, T *v, int64_t *at)    \
    {                                                                                              \
        for (int64_t i = 0; i < k; i++) {                                                          \
            v[i * inner] = x[i * inner];                                                           \
            at[i * inner] = i;                                                                     \
        }                                                                                          \
        for (int64_t i = k / 2 - 1; i >= 0; i--)                                                   \
            sink_##name(v, at, i, k, inner);                                                       \
        for (int64_t i = k; i < n; i++) {                                                          \
            T pair[2] = {v[0], x[i * inner]};                                                      \
            int64_t index[2] = {at[0], i};                                                         \
                                                                                                   \
            if (worse_##name(pair, index, 1, 0))                                                   \
                continue;                                                                          \
            v[0] = pair[1];                                                                        \
            at[0] = i;                                                                             \
            sink_##name(v, at, 0, k, inner);                                                       \
        }                                                                                          \
        for (int64_t last = k - 1; last > 0; last--) {                                             \
            swap_##name(v, at, 0, last *inner);                                                    \
            sink_##name(v, at, 0, last, inner);                                                    \
        }                                                                                          \
    }
RT_EACH_NUMBER(LINE)

void rt_top_k(Rt *rt, const RtAlong *p, void *values, void *indices, const void *x)
{
    int64_t n = p->n, inner = p->inner, k = p->k;

    if (k == 0)
        return;
#pragma omp parallel for num_threads(rt_team(rt, p->outer *n *inner)) schedule(static)
    for (int64_t i = 0; i < p->outer * inner; i++) {
        int64_t from = i / inner * n * inner + i % inner, to = i / inner * k * inner + i % inner;
        int64_t *at = (int64_t *)indices + to;

        switch (rt_plain(p->type)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        line_##name((const T *)x + from, n, inner, k, (T *)values + to, at);                       \
        break;
            RT_EACH_NUMBER(CASE)
        default:
            abort();
        }
    }
}
