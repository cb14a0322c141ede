// Shuffles without a table: a Feistel network over the next power of four, applied again until the
// result is below n (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
#include "runtime/rt_philox.h"
#include "runtime/trainer/data.h"

enum { ROUNDS = 6 };

// The trainer's own random streams (SHUFFLE_STREAM, INIT_STREAM, SAMPLE_STREAM) have negative step
// numbers, which no step has.
static const int64_t SHUFFLE_STREAM = -2;

static uint64_t permute(uint64_t x, int half, uint64_t key, uint64_t epoch)
{
    uint64_t mask = ((uint64_t)1 << half) - 1, left = x >> half, right = x & mask;

    for (int round = 0; round < ROUNDS; round++) {
        uint32_t c[4] = {(uint32_t)right, (uint32_t)(right >> 32) ^ (uint32_t)round << 24,
                         (uint32_t)epoch, (uint32_t)(epoch >> 32)};

        rt_philox(c, (uint32_t)key, (uint32_t)(key >> 32));
        uint64_t mixed = left ^ (((uint64_t)c[1] << 32 | c[0]) & mask);
        left = right;
        right = mixed;
    }
    return left << half | right;
}

int64_t rt_shuffle(int64_t i, int64_t n, int64_t seed, int64_t epoch)
{
    uint64_t key = rt_mix(rt_mix((uint64_t)seed) + (uint64_t)SHUFFLE_STREAM), x = (uint64_t)i;
    int half = 1;

    while (half < 31 && (int64_t)1 << 2 * half < n)
        half++;
    do
        x = permute(x, half, key, (uint64_t)epoch);
    while (x >= (uint64_t)n);
    return (int64_t)x;
}
