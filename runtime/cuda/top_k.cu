// The k largest elements along a dim, descending; of equals the first comes first; NaN counts as
// the largest. Each pass over a line finds the first element after the last one found.
#include "runtime/cuda/best.cuh"

template <class T>
__device__ __forceinline__ void rt_top_k_line(const RtAlong &p, T *values, int64_t *indices,
                                              const T *x)
{
    __shared__ Shared<T[RT_WARP]> value;
    __shared__ Shared<int32_t[RT_WARP]> index;
    RtDivided line = rt_divide(blockIdx.x, p.inner);
    const T *from = x + line.quotient * p.n * p.inner + line.rest;
    int64_t to = line.quotient * p.k * p.inner + line.rest;
    RtBest<T> last = {0, -1};

    for (int64_t k = 0; k < p.k; k++) {
        RtBest<T> best = {0, -1};
        for (int32_t i = (int32_t)threadIdx.x; i < p.n; i += (int32_t)blockDim.x) {
            RtBest<T> v = {from[i * p.inner], i};
            if ((k == 0 || rt_is_before(last, v)) && rt_is_before(v, best))
                best = v;
        }
        last = rt_block_best(best, value, index);
        if (threadIdx.x == 0) {
            values[to + k * p.inner] = last.value;
            indices[to + k * p.inner] = last.index;
        }
    }
}

#define RT_TOP_K(T, name)                                                                          \
    extern "C" __global__ void rt_cuda_top_k_##name(RtAlong p, T *values, int64_t *indices,        \
                                                    const T *x)                                    \
    {                                                                                              \
        rt_top_k_line(p, values, indices, x);                                                      \
    }                                                                                              \
    RT_ENTRY(rt_cuda_top_k_##name);
RT_CUDA_EACH_TYPE(RT_TOP_K)
