// Sums of f32 over dims, bead by bead.
#include "runtime/rt_abacus.h"

void rt_reduce(Rt *rt, const RtReduce *p, void *y, const void *x)
{
    int64_t count = 1, results = 1;
    float *sum = y;

    for (int i = 0; i < p->rank; i++) {
        count *= p->dim[i];
        results *= p->reduced[i] ? 1 : p->dim[i];
    }
    for (int64_t i = 0; i < results; i++)
        sum[i] = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t rest = k, from = 0, to = 0, step = 1;
        for (int i = p->rank - 1; i >= 0; i--) {
            int64_t at = rest % p->dim[i];
            rest /= p->dim[i];
            from += at * p->stride[i];
            to += p->reduced[i] ? 0 : at * step;
            step *= p->reduced[i] ? 1 : p->dim[i];
        }
        sum[to] += ((const float *)x)[from];
    }
}
