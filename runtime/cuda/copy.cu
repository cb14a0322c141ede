// Strided copies and fills. Units of up to 16 bytes are moved in one access where all strides allow
// it.
#include "runtime/cuda/cuda.cuh"

enum { RT_COPY_BLOCK = 256, RT_COPY_UNITS = 4 };  // threads; units that a thread moves

// A block's units lie a block apart for each thread, so that its threads touch neighbours.
template <class T>
__device__ __forceinline__ void rt_copy_units(const RtCudaCopy &c, T *y, const T *x)
{
    int64_t first = (int64_t)blockIdx.x * (RT_COPY_BLOCK * RT_COPY_UNITS) + threadIdx.x;
    T unit[RT_COPY_UNITS];
    int64_t to[RT_COPY_UNITS];

#pragma unroll
    for (int k = 0; k < RT_COPY_UNITS; k++) {
        int64_t i = first + k * RT_COPY_BLOCK;
        if (i < c.count) {
            RtOffsets at = rt_offsets(c.dims, i);
            unit[k] = rt_load<T>(x, at.x);
            to[k] = at.y;
        }
    }
#pragma unroll
    for (int k = 0; k < RT_COPY_UNITS; k++)
        if (first + k * RT_COPY_BLOCK < c.count)
            rt_store(y, to[k], unit[k]);
}

template <class T>
__device__ __forceinline__ void rt_put_units(const RtCudaCopy &c, T *y, const RtCudaPattern &value)
{
    int64_t first = (int64_t)blockIdx.x * (RT_COPY_BLOCK * RT_COPY_UNITS) + threadIdx.x;
    T unit;

    memcpy(&unit, &value, sizeof unit);
#pragma unroll
    for (int k = 0; k < RT_COPY_UNITS; k++) {
        int64_t i = first + k * RT_COPY_BLOCK;
        if (i < c.count)
            rt_store(y, rt_offsets(c.dims, i).y, unit);
    }
}

#define RT_COPY(T, bytes)                                                                          \
    extern "C" __global__ void rt_cuda_copy_##bytes(RtCudaCopy c, T *y, const T *x)                \
    {                                                                                              \
        rt_copy_units(c, y, x);                                                                    \
    }                                                                                              \
    RT_ENTRY(rt_cuda_copy_##bytes);                                                                \
    extern "C" __global__ void rt_cuda_put_##bytes(RtCudaCopy c, T *y, RtCudaPattern value)        \
    {                                                                                              \
        rt_put_units(c, y, value);                                                                 \
    }                                                                                              \
    RT_ENTRY(rt_cuda_put_##bytes);
RT_COPY(uint8_t, 1)
RT_COPY(uint16_t, 2)
RT_COPY(uint32_t, 4)
RT_COPY(uint2, 8)
RT_COPY(uint4, 16)

enum { RT_TILE = 32, RT_TILE_ROWS = 8 };  // edge of a tile; rows that a block handles together

// A tile goes through shared memory, so that both sides are read and written along their unit
// strides. One more column than needed keeps a tile's column in different banks.
template <class T>
__device__ __forceinline__ void rt_transpose_tile(const RtCudaTranspose &p, T *y, const T *x,
                                                  Shared<T[RT_TILE][RT_TILE + 1]> &tile)
{
    RtDivided a = rt_divide(blockIdx.x, p.across), b = rt_divide(a.quotient, p.down);
    RtOffsets at = rt_offsets(p.outer, b.quotient);
    int lane = (int)threadIdx.x % RT_TILE, line = (int)threadIdx.x / RT_TILE;
    int64_t row = b.rest * RT_TILE, column = a.rest * RT_TILE;

    for (int i = line; i < RT_TILE; i += RT_TILE_ROWS)
        if (row + lane < p.rows && column + i < p.columns)
            tile[i][lane] = x[at.x + row + lane + (column + i) * p.x_column];
    __syncthreads();
    for (int i = line; i < RT_TILE; i += RT_TILE_ROWS)
        if (row + i < p.rows && column + lane < p.columns)
            y[at.y + (row + i) * p.y_row + column + lane] = tile[lane][i];
}

#define RT_TRANSPOSE(T, bytes)                                                                     \
    extern "C" __global__ void rt_cuda_transpose_##bytes(RtCudaTranspose p, T *y, const T *x)      \
    {                                                                                              \
        __shared__ Shared<T[RT_TILE][RT_TILE + 1]> tile;                                           \
        rt_transpose_tile(p, y, x, tile);                                                          \
    }                                                                                              \
    RT_ENTRY(rt_cuda_transpose_##bytes);
RT_TRANSPOSE(uint8_t, 1)
RT_TRANSPOSE(uint16_t, 2)
RT_TRANSPOSE(uint32_t, 4)
RT_TRANSPOSE(uint64_t, 8)
