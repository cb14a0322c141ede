// Numbers for the values of a test's graph.
#include <string.h>

#include "ir/ir.h"

// Gives numbers that depend only on the value's name and the element's row-major index. They are
// therefore the same before and after a pass. Integers are below 3.
static Tensor case_numbers(Arena *a, const Value *v)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    uint64_t seed = v->name ? hash_bytes(v->name, strlen(v->name), 1) : 1;

    for (int64_t i = 0; i < tensor_count(&t); i++) {
        uint64_t key[2] = {seed, (uint64_t)i};
        uint64_t x = hash_bytes(key, sizeof key, 2);
        if (t.f)
            t.f[i] = (double)(x % 4001) / 1000 - 2.0003;
        else
            t.i[i] = v->dtype == BOOL ? x % 4 != 0 : (int64_t)(x % 3);
    }
    tensor_round(&t);
    return t;
}
