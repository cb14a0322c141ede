// Formulas for the bytes of Rt.workspace that kernels of GPUs use.
#include "runtime/rt_cuda_workspace.h"

#include "runtime/rt_cuda_matmul.h"
#include "runtime/rt_resample.h"
#include "runtime/rt_workspace.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t rt_cuda_reduce_chunks(int64_t units, int64_t length, int64_t least_length)
{
    int64_t chunks = least(ceil_div(RT_CUDA_BLOCKS, units), length / least_length);

    return chunks > 1 ? chunks : 1;
}

// A warp's columns: 4 for each thread if there are enough of them, so that 16 bytes are read in one
// access.
int64_t rt_cuda_sums_columns(int64_t width)
{
    int64_t columns = 8;

    while (columns < width && columns < 32)
        columns *= 2;
    return width >= 128 && width % 4 == 0 ? 128 : columns;
}

int64_t rt_cuda_sums_tiles(const RtSums *q)
{
    return ceil_div(q->width, rt_cuda_sums_columns(q->width));
}

int64_t rt_cuda_sums_chunks(const RtSums *q)
{
    int64_t units = q->outer * rt_cuda_sums_tiles(q);

    return units ? rt_cuda_reduce_chunks(units, q->rows, 64) : 1;
}

int64_t rt_cuda_sums_workspace(const RtSums *q)
{
    return 8 * q->outer * rt_cuda_sums_chunks(q) * q->n * q->width;
}

// Chunks of neighbouring results are the most: 32 results are a unit there, and chunks are short.
int64_t rt_cuda_reduce_workspace(const RtReduce *p)
{
    int64_t results = 1, length = 1;

    for (int i = 0; i < p->rank; i++)
        *(p->reduced[i] ? &length : &results) *= p->dim[i];
    if (results == 0)
        return 0;
    int64_t chunks = rt_cuda_reduce_chunks(ceil_div(results, 32), length, 128);
    return chunks > 1 ? 8 * results * chunks : 0;
}

// The first tap of each position and how many there are, in 4 bytes each, and the weights.
int64_t rt_cuda_resample_workspace(const RtResample *p)
{
    return p->size * (8 + rt_type_bytes(p->type) * rt_resample_most(p));
}

// The sorted index: each element's row and its position in the index, of 4 bytes.
int64_t rt_cuda_scatter_workspace(const RtGather *p) { return 8 * p->batch * p->index; }

// The parts' sums, if k is split: [part, batch, m, n].
static int64_t product_workspace(const RtDot *p)
{
    bool is_transposed;
    RtDot d = rt_dot_fold(p, &is_transposed);
    int64_t batches = rt_product(d.batch, d.n_batch), results = batches * d.m * d.n;

    if (results == 0)
        return 0;
    int64_t parts = rt_cuda_reduce_chunks(
        batches * ceil_div(d.m, RT_CUDA_EDGE) * ceil_div(d.n, RT_CUDA_EDGE), d.k, RT_CUDA_TERMS);
    return parts > 1 ? parts * results * rt_cuda_sum_bytes(d.type) : 0;
}

// The workspace begins at a multiple of 64, and cuBLASLt's at the next one of 256.
int64_t rt_cuda_dot_workspace(const RtDot *p)
{
    RtCudaMatmul matmul;
    int64_t own = product_workspace(p);

    if (!rt_cuda_matmul_plan(p, &matmul))
        return own;
    int64_t other = rt_cuda_matmul_bytes(p) + RT_CUDA_MATMUL_ALIGNMENT - 64;
    return own > other ? own : other;
}

// Σ dy y of each query, for the gradient.
int64_t rt_cuda_attention_workspace(const RtAttention *p)
{
    // An RtCudaQuery for each query, and an upper bound of each head's scores outside of limits.
    return rt_product(p->batch, p->n_batch) * rt_product(p->group, p->n_group) * (16 * p->s + 4);
}

int64_t rt_cuda_conv_parts(const RtConv *p)
{
    int64_t groups = p->groups > 0 ? p->groups : 1;
    int64_t columns = p->c / groups * rt_product(p->window.size, p->window.n);
    int64_t tiles =
        groups * ceil_div(p->o / groups, RT_CUDA_EDGE) * ceil_div(columns, RT_CUDA_EDGE);

    if (tiles == 0)
        return 1;
    return rt_cuda_reduce_chunks(tiles, p->n * rt_product(p->y_dim, p->window.n), RT_CUDA_TERMS);
}

// The parts of the weights' gradient.
int64_t rt_cuda_conv_workspace(const RtConv *p)
{
    int64_t parts = rt_cuda_conv_parts(p), groups = p->groups > 0 ? p->groups : 1;

    if (parts == 1)
        return 0;
    return 4 * parts * p->o * (p->c / groups) * rt_product(p->window.size, p->window.n);
}

int64_t rt_cuda_exchange_workspace(const RtExchange *p, int ranks)
{
    bool is_dense = p->outer == 1 && p->middle <= 1 && p->joined <= 1;

    if (is_dense && p->whole % ranks == 0)
        return 0;
    return 2 * ranks * ceil_div(rt_exchange_piece(p, ranks), RT_CUDA_PIECE) * RT_CUDA_PIECE;
}
