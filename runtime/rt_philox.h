// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011). A number depends on its use and index, never on the order
// of drawing. So it is the same under every sharding and every recomputation.
#ifndef SHARDCC_RT_PHILOX_H
#define SHARDCC_RT_PHILOX_H

#include <stdint.h>

#include "rt_inline.h"

// Encrypts the counter `c` with the key `k`, in place. The words are kept in 64 bits, as the vector
// multiplication takes and gives them.
RT_INLINE void rt_philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    const uint64_t low = UINT32_MAX;
    uint64_t x0 = c[0], x1 = c[1], x2 = c[2], x3 = c[3];

#ifdef __CUDACC__
#pragma unroll
#else
#pragma GCC unroll 10
#endif
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53 * x0, b = 0xCD9E8D57 * x2;

        x0 = b >> 32 ^ x1 ^ k0;
        x1 = b & low;
        x2 = a >> 32 ^ x3 ^ k1;
        x3 = a & low;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    c[0] = (uint32_t)x0;
    c[1] = (uint32_t)x1;
    c[2] = (uint32_t)x2;
    c[3] = (uint32_t)x3;
}

// A bijection that spreads each bit of x over the whole word (the finaliser of SplitMix64, Steele
// et al. 2014).
RT_INLINE uint64_t rt_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

// For each seed, different steps give different keys.
RT_INLINE uint64_t rt_key(int64_t seed, int64_t step)
{
    return rt_mix(rt_mix((uint64_t)seed) + (uint64_t)step);
}

// Draws the random words of elements [4 block, 4 block + 4). Site and layer (both below 2^32) are
// words of the counter, so the streams of a step don't overlap.
RT_INLINE void rt_draw(uint32_t c[4], uint64_t key, int64_t site, int64_t layer, uint64_t block)
{
    c[0] = (uint32_t)block;
    c[1] = (uint32_t)(block >> 32);
    c[2] = (uint32_t)site;
    c[3] = (uint32_t)layer;
    rt_philox(c, (uint32_t)key, (uint32_t)(key >> 32));
}

// A number in [0, 1), a multiple of 2^-24.
RT_INLINE float rt_uniform(int64_t seed, int64_t step, int64_t site, int64_t layer, int64_t element)
{
    uint32_t c[4];

    rt_draw(c, rt_key(seed, step), site, layer, (uint64_t)element / 4);
    // Selects instead of indexing with c[element & 3], so that loops over elements are vectorized.
    uint32_t even = element & 2 ? c[2] : c[0], odd = element & 2 ? c[3] : c[1];
    return (float)((element & 1 ? odd : even) >> 8) * 0x1p-24f;
}

#endif
