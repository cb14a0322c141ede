// Panels of bf16 for instructions that multiply pairs of neighbours along k, and add both products
// to one sum of f32. A word is a pair, the first one in its lower half.
#ifndef SHARDCC_RT_CPU_PAIRS_H
#define SHARDCC_RT_CPU_PAIRS_H

#include "runtime/cpu/micro.h"

// to[p · width + i] = pair p of row or column i of `s`, whose elements are bf16. s->n is at most
// `width`; zeros follow its n-th row, and the last element of an odd k.
void rt_pack_pairs(uint32_t *to, int width, const RtSide *s);

// to[i · width + p], the same by row: for up to 2 · width elements from `at` on of each row.
void rt_pack_pair_rows(uint32_t *to, int width, int rows, const RtSide *s, int64_t at);

#endif
