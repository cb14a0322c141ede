// Gathers rows of a table by index; rows outside of the table's shard are zero.
#include "runtime/cuda/cuda.cuh"

enum { RT_GATHER_BLOCK = 256 };

// The row of the table's shard that element `i` of the index selects; -1 if it is outside.
__device__ __forceinline__ int64_t rt_row_of(const RtGather &p, const void *index, int64_t i)
{
    int64_t x = p.index_type == RT_I32 ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];
    uint64_t row = (uint64_t)x - (uint64_t)p.offset;  // below the offset it is a huge number

    return row < (uint64_t)p.n ? (int64_t)row : -1;
}

// A thread for each unit of T of the result; `inner` is counted in units.
template <class T>
__device__ __forceinline__ void rt_gather_units(const RtGather &p, T *y, const T *table,
                                                const void *index)
{
    int64_t i = (int64_t)blockIdx.x * RT_GATHER_BLOCK + threadIdx.x;
    RtDivided row = rt_divide(i, p.inner), slice = rt_divide(row.quotient, p.index);

    if (slice.quotient >= p.batch * p.outer)
        return;
    int64_t at = rt_row_of(p, index, slice.quotient / p.outer * p.index + slice.rest);
    T unit = {};
    if (at >= 0)
        unit = rt_load<T>(table, (slice.quotient * p.n + at) * p.inner + row.rest);
    rt_store(y, i, unit);
}

#define RT_GATHER(T, bytes)                                                                        \
    extern "C" __global__ void rt_cuda_gather_##bytes(RtGather p, T *y, const T *table,            \
                                                      const void *index)                           \
    {                                                                                              \
        rt_gather_units(p, y, table, index);                                                       \
    }                                                                                              \
    RT_ENTRY(rt_cuda_gather_##bytes);
RT_GATHER(uint8_t, 1)
RT_GATHER(uint16_t, 2)
RT_GATHER(uint32_t, 4)
RT_GATHER(uint2, 8)
RT_GATHER(uint4, 16)
