// What kernels and the formulas of their workspace share: sizes of blocks, and how a product is
// seen. They are the same on every machine, because the compiler plans for machines it never sees.
#ifndef SHARDCC_RT_WORKSPACE_H
#define SHARDCC_RT_WORKSPACE_H

#include "runtime/rt.h"

enum {
    RT_BLOCK_K = 512,  // matrix product: rows of b that are multiplied at once, …
    RT_SLAB_K = 1024,  // … that all threads pack at once, …
    RT_SLAB_N = 1024,  // … and its columns
    RT_PANEL = 32,     // packed columns come in multiples of this
    RT_ROWS = 96,      // attention: queries of one task …
    RT_KEYS = 264,     // … and keys of one block
    RT_SLICES = 256,   // scatter: so many tables are each one thread's
    RT_CHUNKS = 64,    // reductions: parts of a long sum, at most …
    RT_WIDTH = 4096,  // … and neighbouring results made side by side: whole rows where that can be
};

int64_t rt_product(const int64_t *dim, int n);
int rt_type_bytes(RtType t);

// The same product with as few batch dims as possible: they are folded into m or n where the
// strides allow. It is turned around (y' = b' a', which the caller must
// see to) where m is 1 or y's unit stride is m's.
RtDot rt_dot_fold(const RtDot *p, bool *is_transposed);

int64_t rt_dot_slab(int64_t batches);               // the most rows of b in a slab
int64_t rt_sums_chunks(const RtSums *q);            // parts of the rows at one outer place
int64_t rt_drop_room(const RtAttention *p);         // floats for dropout of one thread
int64_t rt_attention_thread(const RtAttention *p);  // bytes of one thread
// Collectives send messages in chunks, each a round with all ranks: its bytes, and how many rounds
// are on their way at once.
enum { RT_MAX_ROUNDS = 8 };
int64_t rt_exchange_chunk(const RtExchange *p, int ranks);
int rt_exchange_rounds(const RtExchange *p, int ranks);

#endif
