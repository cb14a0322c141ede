// Formulas for the bytes of Rt.workspace that kernels of GPUs use. The compiler calls them to plan
// memory, and kernels to divide it. They depend on shapes only.
#ifndef SHARDCC_RT_CUDA_WORKSPACE_H
#define SHARDCC_RT_CUDA_WORKSPACE_H

#include "runtime/rt_kernels.h"
#include "runtime/rt_workspace.h"

// Blocks that keep a GPU busy: four for each multiprocessor of an H100. Work is split until there
// are as many; it is a constant, so that results don't depend on the GPU.
enum { RT_CUDA_BLOCKS = 528 };
// Products: the edge of a tile, and the least terms of a part of a long sum.
enum { RT_CUDA_EDGE = 64, RT_CUDA_TERMS = 256 };

// Bytes of a sum of products of elements of that type.
static inline int64_t rt_cuda_sum_bytes(RtType t) { return t == RT_F64 ? 8 : 4; }

// Tiles of columns that a block of attention has, for results of so many columns.
static inline int rt_cuda_column_tiles(int64_t columns) { return columns <= RT_CUDA_EDGE ? 1 : 2; }

// Does attention multiply on tensor cores? Heads of halves of at most two tiles of columns do;
// positions are ints there.
static inline bool rt_cuda_on_tensor_cores(const RtAttention *p)
{
    const int64_t most = 1 << 29, widest = 2 * RT_CUDA_EDGE;

    return rt_is_half(p->type) && p->e <= widest && p->f <= widest && p->s < most && p->t < most &&
           p->offset > -most && p->offset < most && p->window < most;
}

// Parts of at least `least_length` elements into which a long sum is split, if there are `units`
// such sums.
int64_t rt_cuda_reduce_chunks(int64_t units, int64_t length, int64_t least_length);

// Sums of columns in a fused group: so many columns are a tile, which a block sums over a chunk of
// rows.
int64_t rt_cuda_sums_columns(int64_t width);
int64_t rt_cuda_sums_tiles(const RtSums *q);   // at one outer index
int64_t rt_cuda_sums_chunks(const RtSums *q);  // the same
int64_t rt_cuda_sums_workspace(const RtSums *q);

// A gather, a scatter of sums, or an all-to-all of so many ranks: nothing where each rank's piece
// is dense and all are equal; else a packed copy of what the rank sends and of what it receives, in
// pieces that begin at multiples of RT_CUDA_PIECE bytes.
enum { RT_CUDA_PIECE = 16 };
int64_t rt_cuda_exchange_workspace(const RtExchange *p, int ranks);

int64_t rt_cuda_reduce_workspace(const RtReduce *p);
int64_t rt_cuda_scatter_workspace(const RtGather *p);
int64_t rt_cuda_resample_workspace(const RtResample *p);
int64_t rt_cuda_dot_workspace(const RtDot *p);  // of our own kernel and of cuBLASLt
// Parts of the sums of the weights' gradient.
int64_t rt_cuda_conv_parts(const RtConv *p);
int64_t rt_cuda_conv_workspace(const RtConv *p);            // the largest of the three directions
int64_t rt_cuda_attention_workspace(const RtAttention *p);  // forward and gradient

#endif
