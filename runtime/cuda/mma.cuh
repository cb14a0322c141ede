// Instructions of tensor cores and what goes with them, of GPUs from sm_80 on. A fragment is the
// part of a small matrix that a lane of a warp has ("Matrix Fragments for mma.m16n8k16" of the PTX
// ISA). With g = lane / 4 and t = lane % 4,
//     the left factor, 16 x 16: word i has row g + 8 (i % 2), columns 2 t + 8 (i / 2) and the next;
//     the right one, 16 x 8:    word i has rows 2 t + 8 i and the next, column g;
//     the sum, 16 x 8:          number i has row g + 8 (i / 2), column 2 t + i % 2.
// A word is two halves, the first one in its lower bits. tests/cuda/gpu_mma.h has doubles of these
// functions.
#ifndef SHARDCC_RT_CUDA_MMA_CUH
#define SHARDCC_RT_CUDA_MMA_CUH

#include "runtime/cuda/cuda.cuh"

#ifdef __CUDACC__
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
// Kernels that have no variant for halves may be for older GPUs.
template <class T>
__device__ __forceinline__ void rt_mma(T, float (&)[4], const uint32_t (&)[4], uint32_t, uint32_t)
{
    static_assert(!sizeof(T), "attention of f16 and bf16 is for GPUs from sm_80 on: see --gpu");
}
#else
#define RT_MMA(T, type)                                                                            \
    __device__ __forceinline__ void rt_mma(T, float(&sum)[4], const uint32_t(&a)[4], uint32_t b0,  \
                                           uint32_t b1)                                            \
    {                                                                                              \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 "                         \
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                \
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                               \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                       \
    }
// sum += a b, of halves of the first argument's type.
RT_MMA(RtBf16, "bf16")
RT_MMA(RtF16, "f16")
#endif

// Two numbers rounded to halves.
__device__ __forceinline__ uint32_t rt_pack(RtBf16, float first, float second)
{
    uint32_t word;

    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
}
__device__ __forceinline__ uint32_t rt_pack(RtF16, float first, float second)
{
    uint32_t word;

    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    return word;
}

// Four 8 x 8 matrices of halves from shared memory: lane 8 k + r names the first word of row r of
// matrix k. Word k gets row g, columns 2 t and the next of matrix k; `is_transposed`, rows 2 t and
// the next, column g.
template <bool IS_TRANSPOSED, int N>
__device__ __forceinline__ void rt_load_matrices(uint32_t (&to)[4], uint32_t (&row)[N], int word)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(&row[word]);

    if (IS_TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(at)
                     : "memory");
}

// Begins a copy of 16 bytes to words `word` to `word` + 3 of a row in shared memory: so many bytes
// of `from`, and zeros after them. Both addresses are multiples of 16.
template <int N>
__device__ __forceinline__ void rt_copy_begin(uint32_t (&row)[N], int word, const void *from,
                                              int bytes)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(&row[word]);

    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes)
                 : "memory");
}
// The copies that the thread has begun since the last call are a group.
__device__ __forceinline__ void rt_copy_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until all of the thread's groups have ended but the last N.
template <int N> __device__ __forceinline__ void rt_copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// 2^x, to 2^-22; 0 below 2^-126.
__device__ __forceinline__ float rt_exp2(float x)
{
    float y;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// The larger of two; a NaN if one is.
__device__ __forceinline__ float rt_larger(float a, float b)
{
    float y;

    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}

#endif
#endif
