// Puts rows into a table by index. The index is sorted by rank: an element's rank is the number of
// elements with a smaller row, or with the same row and before it. So rows are combined in the
// order of the index, and nothing is counted with atomics. The ranks of n elements take n²
// comparisons: 3 µs for 8192 at the rate of an H100, 0.8 ms for 131072.
#include "runtime/cuda/cuda.cuh"

enum { RT_SORT_BLOCK = 256, RT_PUT_LINES = 8 };

// The row of the table's shard; p.n, after all rows, if it is outside.
__device__ __forceinline__ int32_t rt_sort_key(const RtGather &p, const void *index, int64_t i)
{
    int64_t x = p.index_type == RT_I32 ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];

    return (int32_t)(x >= p.offset && x - p.offset < p.n ? x - p.offset : p.n);
}

// A block for RT_SORT_BLOCK elements of one batch entry's index. Writes the sorted rows and the
// elements in their order, both [batch, index].
extern "C" __global__ void rt_cuda_scatter_sort(RtGather p, int32_t *row, int32_t *order,
                                                const void *index)
{
    __shared__ Shared<int32_t[RT_SORT_BLOCK]> key;
    int64_t blocks = (p.index + RT_SORT_BLOCK - 1) / RT_SORT_BLOCK;
    int64_t first = blockIdx.x / blocks * p.index;
    int32_t i = (int32_t)(blockIdx.x % blocks) * RT_SORT_BLOCK + (int32_t)threadIdx.x;
    int32_t n = (int32_t)p.index, mine = i < n ? rt_sort_key(p, index, first + i) : 0, rank = 0;

    for (int32_t base = 0; base < n; base += RT_SORT_BLOCK) {
        int32_t count = n - base < RT_SORT_BLOCK ? n - base : RT_SORT_BLOCK;
        __syncthreads();
        if ((int32_t)threadIdx.x < count)
            key[threadIdx.x] = rt_sort_key(p, index, first + base + threadIdx.x);
        __syncthreads();
        for (int32_t j = 0; j < count; j++) {
            int32_t other = key[j];
            rank += other < mine || (other == mine && base + j < i);
        }
    }
    if (i < n) {
        row[first + rank] = mine;
        order[first + rank] = i;
    }
}
RT_ENTRY(rt_cuda_scatter_sort);

__device__ __forceinline__ float rt_times(float a, float b) { return a * b; }
__device__ __forceinline__ double rt_times(double a, double b) { return a * b; }
template <class T> __device__ __forceinline__ T rt_times(T a, T b)
{
    return (T)((uint64_t)a * (uint64_t)b);
}

// Combines a table's element, or some rows', with a later row's.
template <class T> __device__ __forceinline__ T rt_combine(RtReduceOp op, T a, T b)
{
    if (op == RT_SUM)
        return rt_plus(a, b);
    if (op == RT_MUL)
        return rt_times(a, b);
    if (op == RT_LAST)
        return b;
    return rt_extreme(op, a, b);
}

// RT_PUT_LINES lines of `columns` threads combine a segment, the sorted elements of one row, with a
// tile of columns of the table. There are some for each sorted element; threads that begin no
// segment have nothing to do, nor, at the last row, threads that end none. Lines share a segment's
// rows, and their results are combined in order.
template <class T>
__device__ __forceinline__ void rt_put_segment(const RtGather &p, int columns, T *table,
                                               const T *rows, const int32_t *row,
                                               const int32_t *order)
{
    __shared__ Shared<T[RT_SORT_BLOCK]> scratch;
    int threads = columns * RT_PUT_LINES;
    int lane = (int)threadIdx.x % columns, line = (int)threadIdx.x % threads / columns;
    int64_t unit = (int64_t)blockIdx.x * (RT_SORT_BLOCK / threads) + (int)threadIdx.x / threads;
    RtDivided a = rt_divide(unit, (p.inner + columns - 1) / columns);
    RtDivided b = rt_divide(a.quotient, p.index);
    int64_t slice = b.quotient, column = a.rest * columns + lane;
    bool is_some = slice < p.batch * p.outer && column < p.inner;
    int64_t entry = is_some ? slice / p.outer * p.index : 0;
    const int32_t *sorted = row + entry, *from = order + entry;
    int32_t first = (int32_t)b.rest, n = (int32_t)p.index, mine = is_some ? sorted[first] : 0;
    T s = 0;

    if (p.op == RT_LAST)
        is_some = is_some && mine < p.n && (first + 1 == n || sorted[first + 1] != mine);
    else
        is_some = is_some && mine < p.n && (first == 0 || sorted[first - 1] != mine);
    if (is_some) {
#pragma unroll 4
        for (int32_t i = first + line; i < n && sorted[i] == mine; i += RT_PUT_LINES) {
            T x = rows[(slice * p.index + from[i]) * p.inner + column];
            s = i == first + line ? x : rt_combine(p.op, s, x);
        }
    }
    scratch[threadIdx.x] = s;
    __syncthreads();
    if (line > 0 || !is_some)
        return;
    for (int i = 1; i < RT_PUT_LINES && first + i < n && sorted[first + i] == mine; i++)
        s = rt_combine(p.op, s, (T)scratch[(int)threadIdx.x + i * columns]);
    T *to = table + (slice * p.n + mine) * p.inner + column;
    *to = rt_combine(p.op, *to, s);
}

#define RT_SCATTER(T, name)                                                                        \
    extern "C" __global__ void rt_cuda_scatter_##name(RtGather p, int columns, T *table,           \
                                                      const T *rows, const int32_t *row,           \
                                                      const int32_t *order)                        \
    {                                                                                              \
        rt_put_segment(p, columns, table, rows, row, order);                                       \
    }                                                                                              \
    RT_ENTRY(rt_cuda_scatter_##name);
RT_CUDA_EACH_TYPE(RT_SCATTER)
