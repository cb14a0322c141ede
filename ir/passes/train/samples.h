// Finds what each value of a forward graph reads of the batch: a sample, a sum over samples, or
// more.
#ifndef SHARDCC_IR_SAMPLES_H
#define SHARDCC_IR_SAMPLES_H

#include "ir/internal.h"

// A value is free + own(s) + Σ_s other(s), where s is the sample and `free` depends on none. The
// sum is the same for all samples. A value that is no such sum reads several samples.
typedef struct Reads {
    // In a row-major list of the value's elements: how far it is from a sample to the next; an
    // element depends on sample index / stride % batch. 0: there is no such part.
    int64_t stride;
    bool sums;           // it has a sum over samples
    bool has_free;       // it has a sum over samples, and a part that depends on none
    bool has_weight;     // it depends on a parameter
    NodeId summed;       // the node that adds up samples
    NodeId mixed;        // the node that reads several samples other than in a sum; 0: none does
    NodeId by_position;  // makes it depend on samples' positions in the batch; 0: no node does
} Reads;

typedef struct Samples {
    const Graph *g;
    Arena *arena;
    int64_t batch;  // 0: no input has samples
    Reads *of;      // by ValueId
} Samples;

// Samples are dim 0 of the inputs. Batch norm's statistics count as free.
Samples samples_read(Arena *a, const Graph *g);

static inline bool reads_nothing(const Reads *r) { return !r->stride && !r->sums && !r->mixed; }
// Is it a sum over samples of what each of them gives, and nothing else?
static inline bool reads_sum(const Reads *r)
{
    return r->sums && !r->has_free && !r->stride && !r->mixed && !r->by_position;
}

#endif
