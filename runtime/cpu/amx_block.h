// Blocks of packed numbers for the matrix unit, which multiplies numbers of bf16.
#ifndef SHARDCC_RT_CPU_AMX_BLOCK_H
#define SHARDCC_RT_CPU_AMX_BLOCK_H

#include "runtime/cpu/micro.h"

// A tile register has WIDTH rows of WIDTH words: f32, or pairs of bf16. A panel of DEEP rows or
// columns is packed in blocks of DEEP numbers along k: the high parts of two registers, then the
// middle parts, then the low parts.
enum {
    RT_AMX_WIDTH = 16,
    RT_AMX_DEEP = 2 * RT_AMX_WIDTH,
    RT_AMX_REGISTER = RT_AMX_WIDTH * RT_AMX_WIDTH,  // words of a register
    RT_AMX_PART = 2 * RT_AMX_REGISTER,              // words of a block's high parts
    RT_AMX_BLOCK = 3 * RT_AMX_PART,                 // words of a block
    RT_AMX_BYTES = 6,                               // bytes of a packed number
    RT_AMX_CHAIN = 128,                             // k of a chain of sums
};

// Is a product of m by k and k by n large enough to fill the blocks?
bool rt_amx_fits(int64_t m, int64_t n, int64_t k);

// RtMicro.pack_rows and pack_columns.
void rt_amx_pack_rows(void *panel, const RtSide *a);
void rt_amx_pack_columns(void *panel, const RtSide *b);

// The factor of a sum of products of split numbers.
#define RT_AMX_UNSCALE 0x1p-48f

// A block that isn't split has its numbers, RT_AMX_DEEP rows of RT_AMX_DEEP, instead of the high
// and the middle parts, and two NaN of bf16 as the first word of the low parts, which no other
// block has.
enum { RT_AMX_WHOLE = 0x7fc07fc0 };
static inline bool rt_amx_is_whole(const uint32_t *block)
{
    return block[2 * RT_AMX_PART] == RT_AMX_WHOLE;
}

// The numbers of any block, RT_AMX_DEEP rows of RT_AMX_DEEP: in `buffer`, or in the block itself.
const float *rt_amx_unpack_rows(float *buffer, const uint32_t *block);
const float *rt_amx_unpack_columns(float *buffer, const uint32_t *block);

#endif
