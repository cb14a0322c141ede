// Replaces the compiler's header where runtime/cpu/amx.c is compiled for the tests' matrix unit,
// tiles.c. It has the intrinsics that amx.c uses; the numbers of registers are from 0 to 7.
#ifndef SHARDCC_TESTS_RUNTIME_AMX_IMMINTRIN_H
#define SHARDCC_TESTS_RUNTIME_AMX_IMMINTRIN_H

#include <stddef.h>

void _tile_loadconfig(const void *config);
void _tile_release(void);
void _tile_zero(int tile);
void _tile_loadd(int tile, const void *base, size_t stride);
void _tile_stored(int tile, void *base, size_t stride);
void _tile_dpbf16ps(int sums, int rows, int columns);

#endif
