// The canonical order of the nodes. It doesn't depend on their order in the graph. Isomorphic parts
// that follow from each other, as layers, are consecutive in it, each in the same inner order.
#ifndef SHARDCC_IR_CANONICAL_H
#define SHARDCC_IR_CANONICAL_H

#include "ir/internal.h"

// The nodes that outputs and carries need, as an array of *n in `a`.
NodeId *canonical_order(Arena *a, const Graph *g, int *n);

// By NodeId: a hash of the operator, the attributes (except affine ones) and the types.
uint64_t *node_hashes(Arena *a, const Graph *g);

// By NodeId: a hash of the node and its ancestors up to `radius` nodes back.
uint64_t *cone_hashes(Arena *a, const Graph *g, const uint64_t *hash, int radius);

// Maximal periodic runs of a sequence: s[i] == s[i + period] for begin ≤ i < end - period, and at
// least two periods.
typedef struct Run {
    int begin, end, period;
    bool is_postponed;  // set by the blocks pass: runs within its iterations are tried first
} Run;

// Finds the runs of `s` whose period is a distance between two successive equal elements in `s` or
// in one of the sequences `hint`. Returns an array of *n in `a`.
Run *find_runs(Arena *a, const uint64_t *s, int length, const uint64_t *const *hint, int n_hints,
               int *n);

#endif
