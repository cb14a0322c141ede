// Replaces the compiler's header where runtime/cpu/amx.c and micro_bf16.c are compiled for the
// tests' units, tiles.c and pairs.c. It has the intrinsics that they use; the numbers of tile
// registers are from 0 to 7.
#ifndef SHARDCC_TESTS_RUNTIME_AMX_IMMINTRIN_H
#define SHARDCC_TESTS_RUNTIME_AMX_IMMINTRIN_H

#include <stddef.h>

void _tile_loadconfig(const void *config);
void _tile_release(void);
void _tile_zero(int tile);
void _tile_loadd(int tile, const void *base, size_t stride);
void _tile_stored(int tile, void *base, size_t stride);
void _tile_dpbf16ps(int sums, int rows, int columns);

typedef float __m512 __attribute__((vector_size(64)));
typedef int __m512bh __attribute__((vector_size(64)));

// sums[i] += the products of pair i of `left` and of `right`.
void add_pairs(void *sums, const void *left, const void *right);

// A macro: compilers warn of such vectors as arguments where the CPU doesn't have them.
#define _mm512_dpbf16_ps(sums, left, right)                                                        \
    ({                                                                                             \
        __m512 rt_s = (sums);                                                                      \
        __m512bh rt_a = (left), rt_b = (right);                                                    \
        add_pairs(&rt_s, &rt_a, &rt_b);                                                            \
        rt_s;                                                                                      \
    })

#endif
