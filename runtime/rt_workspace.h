// Shared by kernels and their workspace formulas: block sizes, and the form in which a product is
// computed. They are the same on every machine, because the compiler plans for machines it never
// sees.
#ifndef SHARDCC_RT_WORKSPACE_H
#define SHARDCC_RT_WORKSPACE_H

#include "runtime/rt_kernels.h"

enum {
    RT_BLOCK_K = 512,       // matrix product: rows of b in a block
    RT_SLAB_K = 1024,       // rows of b in a slab, which all threads pack together
    RT_SLAB_N = 1024,       // columns of b in a slab
    RT_PANEL = 32,          // packed columns come in multiples of this
    RT_SUMS = 1 << 21,      // floats of the sums of a half result that are kept at a time
    RT_SUMS_OWN = 1 << 18,  // the same, of one thread of several that each have a product
    RT_BUFFER_BYTES = 64,
    RT_ROWS = 96,      // attention: queries of a task
    RT_KEYS = 264,     // keys of a block
    RT_SLICES = 256,   // scatter: slices of the table, each made by one thread
    RT_NARROW = 8,     // scatter: elements of a row for which the index isn't sorted
    RT_DFT_LANES = 8,  // dft: transforms that are computed side by side
    RT_CHUNKS = 64,    // reductions: maximal number of parts of a long sum
    RT_WIDTH = 4096,   // adjacent results computed together; whole rows where possible
};

// Bytes that a kernel may use of Rt.workspace. At start, prepared kernels ask the library how much
// it needs, and refuse to run if that is more.
int64_t rt_dot_workspace(const RtDot *p, int threads);
int64_t rt_conv_workspace(const RtConv *p);  // the largest of the three directions
// A convolution of halves as several of f32 with channels last: each has so many samples that their
// copies in f32 stay in a cache. Copies begin at multiples of RT_BUFFER_BYTES.
RtConv rt_conv_of_f32(const RtConv *p);
int64_t rt_conv_weights(const RtConv *p);  // elements of w
int64_t rt_attention_workspace(const RtAttention *p, int threads);
int64_t rt_attention_grad_workspace(const RtAttention *p, int threads);
int64_t rt_scatter_workspace(const RtGather *p);
int64_t rt_resample_workspace(const RtResample *p);
int64_t rt_dft_workspace(const RtDft *p, int threads);
int64_t rt_sums_workspace(const RtSums *q, int threads);
int64_t rt_reduce_workspace(const RtReduce *p);
// `ranks`: number of ranks along p->axis.
int64_t rt_exchange_workspace(const RtExchange *p, int ranks);
// The most bytes that one rank has for another one.
int64_t rt_exchange_piece(const RtExchange *p, int ranks);

int64_t rt_product(const int64_t *dim, int n);
int rt_type_bytes(RtType t);
static inline bool rt_is_half(RtType t) { return t == RT_F16 || t == RT_BF16; }

// Returns the same product with as few batch dims as possible: they are folded into m or n where
// strides allow. It is transposed (y' = b' a'; the caller swaps the operands) if m is 1 or if m has
// y's unit stride.
RtDot rt_dot_fold(const RtDot *p, bool *is_transposed);
void rt_dot_drop_batch(RtDot *p, int at);  // removes a batch dim

int64_t rt_dot_slab(int64_t batches);  // maximal number of rows of b in a slab
// Floats of the sums of a product whose result is of type `result`, at most `most`; 0 unless that
// is a half. Of rt_dot_fold's product: each of `batches`.
int64_t rt_product_sums(RtType result, int64_t m, int64_t n, int64_t most);
int64_t rt_dot_sums(const RtDot *folded, int64_t batches);
RtType rt_dot_result(const RtDot *p);               // the type of y
int64_t rt_sums_chunks(const RtSums *q);            // parts of the rows at one outer index
int64_t rt_drop_floats(const RtAttention *p);       // floats that one thread needs for dropout
int64_t rt_attention_thread(const RtAttention *p);  // bytes of workspace of one thread
int64_t rt_attention_dq(const RtAttention *p);  // floats of sums of dq, for each thread of halves
// Collectives send messages in rounds. In a round each rank exchanges one chunk with every other
// rank. Bytes of a chunk, and how many rounds are in flight at the same time.
enum { RT_MAX_ROUNDS = 8 };
int64_t rt_exchange_chunk(const RtExchange *p, int ranks);
int rt_exchange_rounds(const RtExchange *p, int ranks);

#endif
