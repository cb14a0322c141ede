// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011). A number depends on what it is for, never on the order in
// which it is drawn, so it is the same under every split and every recomputation.
#ifndef SHARDCC_RT_PHILOX_H
#define SHARDCC_RT_PHILOX_H

#include <stdint.h>

// Encrypts the counter `c` under the key `k`, in place.
static inline void rt_philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
        uint32_t c1 = c[1], c3 = c[3];

        c[0] = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c[3] = (uint32_t)a;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

// Spreads each bit of x over the word; one to one (the finaliser of SplitMix64, Steele et al.
// 2014).
static inline uint64_t rt_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

// A number in [0, 1), a multiple of 2^-24. The key is one to one in `step` for each seed; site and
// layer (both below 2^32) are words of the counter, so no two streams of a step meet.
static inline float rt_uniform(int64_t seed, int64_t step, int64_t site, int64_t layer,
                               int64_t element)
{
    uint64_t key = rt_mix(rt_mix((uint64_t)seed) + (uint64_t)step), block = (uint64_t)element / 4;
    uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)site, (uint32_t)layer};

    rt_philox(c, (uint32_t)key, (uint32_t)(key >> 32));
    // No c[element & 3], so that loops over elements become vector code.
    uint32_t even = element & 2 ? c[2] : c[0], odd = element & 2 ? c[3] : c[1];
    return (float)((element & 1 ? odd : even) >> 8) * 0x1p-24f;
}

#endif
