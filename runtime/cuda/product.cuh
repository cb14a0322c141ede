// Products of tiles, of which dot, convolutions and attention are made: a block multiplies tiles of
// 64 x 64 results, slices of 16 terms at a time through shared memory. Its threads have 4 x 4
// results each, in registers.
#ifndef SHARDCC_RT_CUDA_PRODUCT_CUH
#define SHARDCC_RT_CUDA_PRODUCT_CUH

#include "runtime/cuda/cuda.cuh"

enum { RT_EDGE = 64, RT_TERMS = 16, RT_EACH = 4, RT_PRODUCT_BLOCK = 256 };
// Columns of a slice: four more than needed keep its rows in different banks.
enum { RT_SLICE = RT_EDGE + 4 };
template <class T> using RtSlice = Shared<T[RT_TERMS][RT_SLICE]>;

__device__ __forceinline__ float rt_multiply_add(float a, float b, float c)
{
    return fmaf(a, b, c);
}
__device__ __forceinline__ double rt_multiply_add(double a, double b, double c)
{
    return fma(a, b, c);
}

// The thread's first row and column in the tile. Neighbouring threads have neighbouring columns,
// or rows.
struct RtTilePosition {
    int row, column;
};
__device__ __forceinline__ RtTilePosition rt_tile_position(bool rows_are_fast)
{
    int fast = (int)threadIdx.x % (RT_EDGE / RT_EACH) * RT_EACH;
    int slow = (int)threadIdx.x / (RT_EDGE / RT_EACH) * RT_EACH;

    return rows_are_fast ? RtTilePosition{fast, slow} : RtTilePosition{slow, fast};
}

// The thread's share of a slice, in registers: element (i, k) of an operand is at(i, k), for i in
// the tile. Neighbouring threads read along k, or along i.
template <class T, class Operand>
__device__ __forceinline__ void rt_fetch(T (&to)[RT_EACH], int64_t first, int64_t last,
                                         bool is_along_k, const Operand &at)
{
    int t = (int)threadIdx.x;

#pragma unroll
    for (int e = 0; e < RT_EACH; e++) {
        int i = is_along_k ? t / RT_TERMS + e * RT_TERMS : t % RT_EDGE;
        int64_t k = first + (is_along_k ? t % RT_TERMS : t / RT_EDGE + e * RT_EACH);
        to[e] = k < last ? at(i, k) : 0;
    }
}

template <class T>
__device__ __forceinline__ void rt_put_slice(RtSlice<T> &slice, const T (&from)[RT_EACH],
                                             bool is_along_k)
{
    int t = (int)threadIdx.x;

#pragma unroll
    for (int e = 0; e < RT_EACH; e++) {
        int i = is_along_k ? t / RT_TERMS + e * RT_TERMS : t % RT_EDGE;
        slice[is_along_k ? t % RT_TERMS : t / RT_EDGE + e * RT_EACH][i] = from[e];
    }
}

// One operand of a product of tiles: at(i, k) is its element; 0 outside.
template <class At> struct RtOperand {
    At at;
    bool is_along_k;
};
template <class At> __device__ __forceinline__ RtOperand<At> rt_operand(bool is_along_k, At at)
{
    return {at, is_along_k};
}

// sum[i][j] += Σ left(row + i, k) right(column + j, k) for k in [first, last), in rising order of
// k. The next slice is fetched while this one is multiplied.
template <class T, class Left, class Right>
__device__ __forceinline__ void rt_multiply(T (&sum)[RT_EACH][RT_EACH], RtTilePosition thread,
                                            int64_t first, int64_t last, const Left &left,
                                            const Right &right, RtSlice<T> &a, RtSlice<T> &b)
{
    T next_a[RT_EACH], next_b[RT_EACH];

    rt_fetch(next_a, first, last, left.is_along_k, left.at);
    rt_fetch(next_b, first, last, right.is_along_k, right.at);
    for (int64_t k = first; k < last; k += RT_TERMS) {
        __syncthreads();  // the slices before have been read
        rt_put_slice(a, next_a, left.is_along_k);
        rt_put_slice(b, next_b, right.is_along_k);
        __syncthreads();
        rt_fetch(next_a, k + RT_TERMS, last, left.is_along_k, left.at);
        rt_fetch(next_b, k + RT_TERMS, last, right.is_along_k, right.at);
#pragma unroll
        for (int t = 0; t < RT_TERMS; t++) {
            T x[RT_EACH], y[RT_EACH];
#pragma unroll
            for (int i = 0; i < RT_EACH; i++) {
                x[i] = a[t][thread.row + i];
                y[i] = b[t][thread.column + i];
            }
#pragma unroll
            for (int i = 0; i < RT_EACH; i++)
#pragma unroll
                for (int j = 0; j < RT_EACH; j++)
                    sum[i][j] = rt_multiply_add(x[i], y[j], sum[i][j]);
        }
    }
}

// Calls f(i, j, value) for each of the thread's results, i and j in the tile.
template <class T, class F>
__device__ __forceinline__ void rt_each_result(const T (&sum)[RT_EACH][RT_EACH],
                                               RtTilePosition thread, F f)
{
#pragma unroll
    for (int i = 0; i < RT_EACH; i++)
#pragma unroll
        for (int j = 0; j < RT_EACH; j++)
            f(thread.row + i, thread.column + j, sum[i][j]);
}

#endif
