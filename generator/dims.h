// Dims that are the same, by proof: a node's rule gives them one factor, they are of instances of
// one block value, or of one input or parameter in both graphs. Equal numbers prove nothing.
#ifndef SHARDCC_GENERATOR_DIMS_H
#define SHARDCC_GENERATOR_DIMS_H

#include "generator/internal.h"

typedef struct Dims {
    const Graph *graph[N_SETS];  // not split over ranks
    int *first[N_SETS];          // by ValueId: the number of its dim 0
    bool *is_shared[N_SETS];     // by ValueId: its dims are the same as no others
    int64_t *size;               // by number
    int *parent, n;
} Dims;

// The dims of all values of both graphs, in g's arena.
Dims *find_dims(Gen *g);

// The number that represents all dims that are the same as dim i of a value.
int dim_root(Dims *d, int set, ValueId v, int i);

#endif
