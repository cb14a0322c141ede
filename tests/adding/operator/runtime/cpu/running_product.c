// Running products along a dim, kept in f64.
#include "runtime/cpu/internal.h"

#define PRODUCTS(T, name)                                                                          \
    static void products_##name(const RtAlong *p, int64_t line, T *y, const T *x)                  \
    {                                                                                              \
        int64_t start = line / p->inner * p->n * p->inner + line % p->inner;                       \
        double product = 1;                                                                        \
                                                                                                   \
        for (int64_t i = 0; i < p->n; i++) {                                                       \
            product *= (double)x[start + i * p->inner];                                            \
            y[start + i * p->inner] = (T)product;                                                  \
        }                                                                                          \
    }
PRODUCTS(float, f32)
PRODUCTS(double, f64)

void rt_running_product(Rt *rt, const RtAlong *p, void *y, const void *x)
{
    int64_t lines = p->outer * p->inner;

#pragma omp parallel for num_threads(rt_team(rt, lines * p->n)) schedule(static)
    for (int64_t i = 0; i < lines; i++)
        if (p->type == RT_F32)
            products_f32(p, i, y, x);
        else
            products_f64(p, i, y, x);
}
