// How arithmetic of elements is declared, which CPUs and GPUs both carry out.
#ifndef SHARDCC_RT_INLINE_H
#define SHARDCC_RT_INLINE_H

#ifdef __CUDACC__
#define RT_INLINE static __device__ __forceinline__
#else
#define RT_INLINE static inline
#endif

#endif
