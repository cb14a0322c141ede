// The element types that kernels of targets take.
#include "analyzer/target/target.h"

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
    bool is_half = t == RT_F16 || t == RT_BF16;

    if (is_half)
        return k->type[1] == t && (y == t || y == RT_F32);
    return kernel_takes_floats(k);
}

bool kernel_takes_convs(const Kernel *k)
{
    return k->type[0] != RT_F64 && kernel_takes_products(k);
}

// Are q, k, v, y and their gradients of type t? The maxima and sums of rows are f32.
static bool takes_attention(const Kernel *k, RtType t)
{
    enum { BIAS = 3, SEED, MICRO = 6, MAXIMA = 8, SUMS };

    for (int i = 0; i < k->n_in + k->n_out; i++) {
        RtType type = k->type[i];
        bool is_number = i >= SEED && i <= MICRO;
        bool is_mask = i == BIAS && (type == RT_NONE || type == RT_BOOL);
        if (type != (i == BIAS || i == MAXIMA || i == SUMS ? RT_F32 : t) && !is_number && !is_mask)
            return false;
    }
    return true;
}

bool kernel_takes_attention(const Kernel *k) { return takes_attention(k, RT_F32); }

bool kernel_takes_half_attention(const Kernel *k)
{
    return k->type[0] != RT_F64 && takes_attention(k, k->type[0]);
}
