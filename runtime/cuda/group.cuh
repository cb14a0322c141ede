// Generated kernels of fused groups: a thread's elements, sums over rows and down columns.
#ifndef SHARDCC_RT_CUDA_GROUP_CUH
#define SHARDCC_RT_CUDA_GROUP_CUH

#include "runtime/cuda/cuda.cuh"
#include "runtime/rt_math.h"

// The number of the thread among all.
__device__ __forceinline__ int64_t rt_thread()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Written before a loop of a known length, whose arrays are then registers.
#define RT_UNROLL _Pragma("unroll")

// ---- a thread's elements: N of a row, from element i on ----

// A vector of so many bytes.
template <int BYTES> struct RtVector;
template <> struct RtVector<4> {
    typedef uint32_t type;
};
template <> struct RtVector<8> {
    typedef uint2 type;
};
template <> struct RtVector<16> {
    typedef uint4 type;
};

// How many elements go through one load or store, and what they fill.
template <class T, int N> struct RtPart {
    enum { ALL = N * (int)sizeof(T), BYTES = ALL > 16 ? 16 : ALL, COUNT = BYTES / (int)sizeof(T) };
    typedef typename RtVector<BYTES>::type vector;
};

// Reads elements that are contiguous, and aligned to the vector that they fill.
template <class T, int N> __device__ __forceinline__ void rt_take(T (&to)[N], const T *x, int64_t i)
{
    if constexpr (N == 1) {
        to[0] = x[i];
    } else {
        typedef RtPart<T, N> Part;
#pragma unroll
        for (int k = 0; k < N; k += Part::COUNT) {
            typename Part::vector v = rt_load<typename Part::vector>(x, i + k);
            memcpy(to + k, &v, sizeof v);
        }
    }
}

template <class T, int N>
__device__ __forceinline__ void rt_give(const T (&from)[N], T *y, int64_t i)
{
    if constexpr (N == 1) {
        y[i] = from[0];
    } else {
        typedef RtPart<T, N> Part;
#pragma unroll
        for (int k = 0; k < N; k += Part::COUNT) {
            typename Part::vector v;
            memcpy(&v, from + k, sizeof v);
            rt_store(y, i + k, v);
        }
    }
}

// The same for a row of n elements, which may end among the thread's.
template <class T, int N>
__device__ __forceinline__ void rt_take(T (&to)[N], const T *x, int64_t i, int64_t n)
{
    if (i + N <= n) {
        rt_take(to, x, i);
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        to[j] = i + j < n ? x[i + j] : T{};
}

template <class T, int N>
__device__ __forceinline__ void rt_give(const T (&from)[N], T *y, int64_t i, int64_t n)
{
    if (i + N <= n) {
        rt_give(from, y, i);
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        if (i + j < n)
            y[i + j] = from[j];
}

// The same for elements that lie `stride` apart, or aren't aligned.
template <class T, int N>
__device__ __forceinline__ void rt_take_each(T (&to)[N], const T *x, int64_t i, int64_t n,
                                             int64_t stride)
{
#pragma unroll
    for (int j = 0; j < N; j++)
        to[j] = i + j < n ? x[(i + j) * stride] : T{};
}

template <class T, int N>
__device__ __forceinline__ void rt_give_each(const T (&from)[N], T *y, int64_t i, int64_t n,
                                             int64_t stride)
{
#pragma unroll
    for (int j = 0; j < N; j++)
        if (i + j < n)
            y[(i + j) * stride] = from[j];
}

// ---- sums over a row ----

struct RtAdd {
    template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    {
        return (T)(a + b);
    }
};

template <class T> __device__ __forceinline__ T rt_warp_sum(T x)
{
    return rt_warp_join(x, RtAdd());
}
template <class T> __device__ __forceinline__ T rt_block_sum(T x, Shared<T[RT_WARP]> &scratch)
{
    return rt_block_join(x, T{}, RtAdd(), scratch);
}

// ---- sums down columns ----

// A block sums WIDTH * N neighbouring columns of a chunk of rows at one outer index. Each of its
// lines of WIDTH threads takes every LINES-th row; a thread takes N columns.
template <int WIDTH> struct RtColumns {
    enum { LINES = 256 / WIDTH };
    int64_t first, last;  // the rows of the thread's line, LINES apart
    int column, line;     // the thread's first column
    int64_t part;         // the number of outer index and chunk

    // All arguments are constants, so no division is one.
    __device__ __forceinline__ RtColumns(int64_t rows, int width, int n, int chunks)
    {
        const int tiles = (width + WIDTH * n - 1) / (WIDTH * n), thread = (int)threadIdx.x;
        const unsigned tile = blockIdx.x % (unsigned)tiles, chunk = blockIdx.x / (unsigned)tiles;
        const int64_t outer = chunk / (unsigned)chunks, at = chunk % (unsigned)chunks;

        line = thread / WIDTH;
        column = ((int)tile * WIDTH + thread % WIDTH) * n;
        part = chunk;
        first = outer * rows + rows * at / chunks + line;
        last = outer * rows + rows * (at + 1) / chunks;
    }
};

// Adds the lines' sums in their order, and stores them: `to` is the chunk's row of `width` sums.
template <int WIDTH, int N>
__device__ __forceinline__ void rt_store_sums(const RtColumns<WIDTH> &at, const double (&sum)[N],
                                              double *to, int width,
                                              Shared<double[256 / WIDTH][WIDTH]> &scratch)
{
#pragma unroll
    for (int j = 0; j < N; j++) {
        const int lane = (int)threadIdx.x % WIDTH;
        double total = sum[j];

        __syncthreads();  // the sums before have been read
        scratch[at.line][lane] = total;
        __syncthreads();
        for (int i = 1; at.line == 0 && i < 256 / WIDTH; i++)
            total += scratch[i][lane];
        if (at.line == 0 && at.column + j < width)
            to[at.column + j] = total;
    }
}

#endif
