// Numbers: products and sums of sizes with overflow checks, and a hash of bytes.
#include "base/base.h"

bool mul_size(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

bool add_size(int64_t a, int64_t b, int64_t *sum) { return !__builtin_add_overflow(a, b, sum); }

// FNV-1a mixes the low bits badly, so MurmurHash3's finaliser (Appleby 2011) follows.
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    uint64_t h = 0xcbf29ce484222325 ^ seed;

    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3;
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
    return h ^ h >> 33;
}
