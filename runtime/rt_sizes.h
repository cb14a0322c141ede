// Arithmetic of sizes, how many threads some work is worth, and the types of elements that are
// numbers: for kernels and exchanges of host code.
#ifndef SHARDCC_RT_SIZES_H
#define SHARDCC_RT_SIZES_H

#include "runtime/rt_kernels.h"

static inline int64_t rt_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t rt_most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t rt_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t rt_round_up(int64_t a, int64_t b) { return rt_ceil_div(a, b) * b; }

// The first of `count` things that belongs to part `i` of `n` parts of about equal size.
static inline int64_t rt_partition(int64_t count, int64_t i, int64_t n) { return count * i / n; }

// The number of threads for `work` elements or operations. Below 32768 waking the other threads
// takes longer than the work.
static inline int rt_team(const Rt *rt, int64_t work) { return work < 32768 ? 1 : rt->threads; }

// X(type, C type, name) for integers. u64 is handled as i64 and bool as u8, in all kernels:
// rt_plain(t) is one of these types or a float.
#define RT_EACH_INT(X)                                                                             \
    X(RT_I8, int8_t, i8)                                                                           \
    X(RT_I16, int16_t, i16)                                                                        \
    X(RT_I32, int32_t, i32)                                                                        \
    X(RT_I64, int64_t, i64)                                                                        \
    X(RT_U8, uint8_t, u8)                                                                          \
    X(RT_U16, uint16_t, u16)                                                                       \
    X(RT_U32, uint32_t, u32)
#define RT_EACH_NUMBER(X) X(RT_F32, float, f32) X(RT_F64, double, f64) RT_EACH_INT(X)

static inline RtType rt_plain(RtType t) { return t == RT_U64 ? RT_I64 : t == RT_BOOL ? RT_U8 : t; }

#endif
