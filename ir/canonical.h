// An order of the nodes that depends on the graph alone, not on the order in which they stand, and
// in which isomorphic parts that follow each other stand one behind the other, alike.
#ifndef SHARDCC_IR_CANONICAL_H
#define SHARDCC_IR_CANONICAL_H

#include "ir/internal.h"

// The nodes that outputs and carries need, as an array of *n in `a`.
NodeId *canonical_order(const Graph *g, Arena *a, int *n);

// By NodeId: equal for nodes of one operator, one set of attributes (but for affine ones) and
// types.
uint64_t *node_hashes(const Graph *g, Arena *a);

// The same of a node and what it is made from, `radius` nodes back.
uint64_t *cone_hashes(const Graph *g, const uint64_t *hash, int radius, Arena *a);

// Maximal periodic runs of a sequence: s[i] == s[i + period] for begin ≤ i < end - period, and at
// least two periods.
typedef struct Run {
    int begin, end, period;
    bool is_postponed;  // the blocks pass: others come first
} Run;

// The runs whose periods are distances between equal neighbours in `s` or in one of the sequences
// `hint`; an array of *n in `a`.
Run *find_runs(const uint64_t *s, int length, const uint64_t *const *hint, int n_hints, Arena *a,
               int *n);

#endif
