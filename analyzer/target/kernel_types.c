// The element types that kernels of targets take.
#include "analyzer/target/target.h"
#include "runtime/rt_workspace.h"

static bool all_of(const Kernel *k, RtType type)
{
    for (int i = 0; i < k->n_in + k->n_out; i++)
        if (k->type[i] != type)
            return false;
    return true;
}

bool kernel_takes_f32(const Kernel *k) { return all_of(k, RT_F32); }

bool kernel_takes_floats(const Kernel *k) { return all_of(k, RT_F32) || all_of(k, RT_F64); }

// The result of halves may be f32.
bool kernel_takes_products(const Kernel *k)
{
    RtType t = k->type[0], y = k->type[k->n_in];

    if (rt_is_half(t))
        return k->type[1] == t && (y == t || y == RT_F32);
    return kernel_takes_floats(k);
}

bool kernel_takes_convolutions(const Kernel *k)
{
    return rt_is_half(k->type[0]) ? kernel_takes_products(k) : kernel_takes_f32(k);
}

bool kernel_takes_no_halves(const Kernel *k)
{
    for (int i = 0; i < k->n_in + k->n_out; i++)
        if (rt_is_half(k->type[i]))
            return false;
    return true;
}

// Bias, maxima and sums are of f32 where the others are halves.
bool kernel_takes_attention(const Kernel *k)
{
    enum { BIAS = 3, SEED, MICRO = 6, MAXIMA = 8, SUMS };
    RtType t = k->type[0];

    for (int i = 0; i < k->n_in + k->n_out; i++) {
        RtType want = i == MAXIMA || i == SUMS || i == BIAS ? RT_F32 : t;
        bool is_free = (i >= SEED && i <= MICRO) ||
                       (i == BIAS && (k->type[i] == RT_NONE || k->type[i] == RT_BOOL));
        if (k->type[i] != want && !is_free)
            return false;
    }
    return t == RT_F32 || rt_is_half(t);
}
