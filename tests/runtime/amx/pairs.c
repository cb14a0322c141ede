// The tests' AVX512-BF16, in plain C, for CPUs that have none.
#include "immintrin.h"

#include <stdint.h>
#include <string.h>
#include <xmmintrin.h>

static inline float as_float(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

// The second products first. Rounds to the nearest, ties to even; tiny operands and results are
// zero. A function of its own, which the compiler doesn't move over the change of the mode.
__attribute__((noinline)) static void add(float *sums, const uint32_t *left, const uint32_t *right)
{
    for (int i = 0; i < 16; i++) {
        float x = as_float(left[i] << 16), z = as_float(left[i] & 0xffff0000);

        sums[i] = __builtin_fmaf(z, as_float(right[i] & 0xffff0000), sums[i]);
        sums[i] = __builtin_fmaf(x, as_float(right[i] << 16), sums[i]);
    }
}

void add_pairs(void *sums, const void *left, const void *right)
{
    enum { FLUSH_RESULTS = 0x8000, FLUSH_OPERANDS = 0x0040, MASK_ALL = 0x1f80 };
    unsigned mode = _mm_getcsr();

    _mm_setcsr(MASK_ALL | FLUSH_RESULTS | FLUSH_OPERANDS);
    add(sums, left, right);
    _mm_setcsr(mode);
}
