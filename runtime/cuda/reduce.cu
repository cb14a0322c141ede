// Sums, maxima and minima over dims of a strided tensor. Sums of floats are kept in double.
#include "runtime/cuda/cuda.cuh"

enum { RT_REDUCE_BLOCK = 256, RT_LINES = RT_REDUCE_BLOCK / RT_WARP };

// The type that elements of T are reduced in; integers wrap when they are stored.
template <class T> struct RtTotal {
    typedef int64_t type;
    static __device__ int64_t least() { return INT64_MIN; }
    static __device__ int64_t most() { return INT64_MAX; }
};
template <> struct RtTotal<float> {
    typedef double type;
    static __device__ double least() { return -INFINITY; }
    static __device__ double most() { return INFINITY; }
};
template <> struct RtTotal<double> : RtTotal<float> {
};
template <> struct RtTotal<RtF16> : RtTotal<float> {
};
template <> struct RtTotal<RtBf16> : RtTotal<float> {
};

// Stores a total: sums of halves as f32, their extremes as halves again.
template <class T>
__device__ __forceinline__ void rt_put_total(const RtCudaReduce &p, T *y, int64_t result,
                                             typename RtTotal<T>::type s)
{
    rt_put_result(y, rt_offsets(p.kept, result).y, (RtValue<T>)s, p.op == RT_SUM);
}

template <class S> struct RtReducer {
    RtReduceOp op;
    __device__ __forceinline__ S operator()(S a, S b) const
    {
        return op == RT_SUM ? rt_plus(a, b) : rt_extreme(op, a, b);
    }
};

template <class T> __device__ __forceinline__ typename RtTotal<T>::type rt_none(RtReduceOp op)
{
    return op == RT_SUM ? 0 : op == RT_MAX ? RtTotal<T>::least() : RtTotal<T>::most();
}

// The elements of a chunk from `first` on, every `step`-th one.
template <class T>
__device__ __forceinline__ typename RtTotal<T>::type
rt_reduce_some(const RtCudaReduce &p, const T *x, int64_t first, int64_t last, int step)
{
    RtReducer<typename RtTotal<T>::type> join = {p.op};
    typename RtTotal<T>::type s = rt_none<T>(p.op);

    if (p.reduced.n == 1) {
#pragma unroll 4
        for (int64_t i = first; i < last; i += step)
            s = join(s, rt_value(x[i * p.reduced.x[0]]));
    } else {
#pragma unroll 4
        for (int64_t i = first; i < last; i += step)
            s = join(s, rt_value(x[rt_offsets(p.reduced, i).x]));
    }
    return s;
}

// Stores a result, or that of a chunk.
template <class T>
__device__ __forceinline__ void rt_reduced(const RtCudaReduce &p, T *y,
                                           typename RtTotal<T>::type *partial, int64_t result,
                                           int64_t chunk, typename RtTotal<T>::type s)
{
    if (p.chunks > 1)
        partial[chunk * p.results + result] = s;
    else
        rt_put_total(p, y, result, s);
}

struct RtChunk {
    int64_t first, last;
};
__device__ __forceinline__ RtChunk rt_chunk(const RtCudaReduce &p, int64_t i)
{
    return {p.length * i / p.chunks, p.length * (i + 1) / p.chunks};
}

// A block for a result, or a chunk of it.
template <class T>
__device__ __forceinline__ void rt_reduce_row(const RtCudaReduce &p, T *y,
                                              typename RtTotal<T>::type *partial, const T *x)
{
    typedef typename RtTotal<T>::type S;
    __shared__ Shared<S[RT_WARP]> scratch;
    RtDivided at = rt_divide(blockIdx.x, p.chunks);
    RtChunk c = rt_chunk(p, at.rest);
    S s = rt_reduce_some(p, x + rt_offsets(p.kept, at.quotient).x, c.first + threadIdx.x, c.last,
                         RT_REDUCE_BLOCK);

    s = rt_block_join(s, rt_none<T>(p.op), RtReducer<S>{p.op}, scratch);
    if (threadIdx.x == 0)
        rt_reduced(p, y, partial, at.quotient, at.rest, s);
}

// A warp for a result.
template <class T>
__device__ __forceinline__ void rt_reduce_short(const RtCudaReduce &p, T *y, const T *x)
{
    typedef typename RtTotal<T>::type S;
    int lane = (int)threadIdx.x % RT_WARP;
    int64_t result = (int64_t)blockIdx.x * RT_LINES + threadIdx.x / RT_WARP;
    S s = rt_none<T>(p.op);

    if (result < p.results)
        s = rt_reduce_some(p, x + rt_offsets(p.kept, result).x, lane, p.length, RT_WARP);
    s = rt_warp_join(s, RtReducer<S>{p.op});
    if (lane == 0 && result < p.results)
        rt_reduced<T>(p, y, nullptr, result, 0, s);
}

// Neighbouring results in neighbouring threads; each result is shared by RT_LINES threads.
template <class T>
__device__ __forceinline__ void rt_reduce_column(const RtCudaReduce &p, T *y,
                                                 typename RtTotal<T>::type *partial, const T *x)
{
    typedef typename RtTotal<T>::type S;
    __shared__ Shared<S[RT_LINES][RT_WARP]> scratch;
    int lane = (int)threadIdx.x % RT_WARP, line = (int)threadIdx.x / RT_WARP;
    RtDivided at = rt_divide(blockIdx.x, p.chunks);
    RtChunk c = rt_chunk(p, at.rest);
    int64_t result = at.quotient * RT_WARP + lane;
    S s = rt_none<T>(p.op);

    if (result < p.results)
        s = rt_reduce_some(p, x + rt_offsets(p.kept, result).x, c.first + line, c.last, RT_LINES);
    scratch[line][lane] = s;
    __syncthreads();
    if (line > 0 || result >= p.results)
        return;
    for (int i = 1; i < RT_LINES; i++)
        s = RtReducer<S>{p.op}(s, scratch[i][lane]);
    rt_reduced(p, y, partial, result, at.rest, s);
}

// Joins the chunks of each result, in their order.
template <class T>
__device__ __forceinline__ void rt_reduce_chunks(const RtCudaReduce &p, T *y,
                                                 const typename RtTotal<T>::type *partial)
{
    typedef typename RtTotal<T>::type S;
    int64_t result = (int64_t)blockIdx.x * RT_REDUCE_BLOCK + threadIdx.x;

    if (result >= p.results)
        return;
    S s = partial[result];
#pragma unroll 4
    for (int64_t i = 1; i < p.chunks; i++)
        s = RtReducer<S>{p.op}(s, partial[i * p.results + result]);
    rt_put_total(p, y, result, s);
}

#define RT_REDUCE(T, name)                                                                         \
    extern "C" __global__ void rt_cuda_reduce_row_##name(RtCudaReduce p, T *y,                     \
                                                         RtTotal<T>::type *partial, const T *x)    \
    {                                                                                              \
        rt_reduce_row(p, y, partial, x);                                                           \
    }                                                                                              \
    RT_ENTRY(rt_cuda_reduce_row_##name);                                                           \
    extern "C" __global__ void rt_cuda_reduce_short_##name(RtCudaReduce p, T *y, const T *x)       \
    {                                                                                              \
        rt_reduce_short(p, y, x);                                                                  \
    }                                                                                              \
    RT_ENTRY(rt_cuda_reduce_short_##name);                                                         \
    extern "C" __global__ void rt_cuda_reduce_column_##name(RtCudaReduce p, T *y,                  \
                                                            RtTotal<T>::type *partial, const T *x) \
    {                                                                                              \
        rt_reduce_column(p, y, partial, x);                                                        \
    }                                                                                              \
    RT_ENTRY(rt_cuda_reduce_column_##name);                                                        \
    extern "C" __global__ void rt_cuda_reduce_join_##name(RtCudaReduce p, T *y,                    \
                                                          const RtTotal<T>::type *partial)         \
    {                                                                                              \
        rt_reduce_chunks(p, y, partial);                                                           \
    }                                                                                              \
    RT_ENTRY(rt_cuda_reduce_join_##name);
RT_CUDA_EACH_TYPE(RT_REDUCE)
RT_CUDA_EACH_HALF(RT_REDUCE)
