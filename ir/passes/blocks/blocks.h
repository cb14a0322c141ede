// The types and functions that the files of the blocks pass share: finding repeated blocks.
#ifndef SHARDCC_IR_BLOCKS_H
#define SHARDCC_IR_BLOCKS_H

#include "ir/passes/blocks/canonical.h"

// The readers of a value without a producer, in the canonical order.
typedef struct Readers {
    int first, last;  // 1 + index of the first and last reader; 0: none
    int slot;         // the input by which the first one reads it
} Readers;

// A class that was found. Its iterations follow each other in the canonical order.
typedef struct Found {
    const char *name;
    int begin, period, n_iter;
} Found;

typedef struct Finder {
    const Graph *g;
    Arena *arena;
    bool grows;  // may classes grow beyond their runs?
    NodeId *order;
    int n;
    uint64_t *hash;    // by NodeId: see node_hashes
    int *position;     // by NodeId: index in `order`
    Readers *readers;  // by ValueId
    Block *block;      // by index in `order`
    int *last_reader;  // by ValueId: scratch of block_rotations
    // By ValueId, scratch of block_matches. The second iteration reads this value of the first one;
    // instead, the first one reads the stand-in, from outside. A loop has one buffer for both.
    ValueId *stand_in;
    Run *heap;  // a heap of runs that may become classes; the first one saves most nodes
    int n_heap, cap_heap;
    Found *found;  // by class
    int n_found, cap_found;
} Finder;

// Iterations that may become a class.
typedef struct Series {
    int begin, period;  // iteration k is [begin + k · period, begin + (k + 1) · period)
    int first;          // the iteration that the class would begin with
    bool is_chained;    // a later iteration reads values of an earlier one
} Series;

// Sets `offset` to at most `most` positions in a run at which iterations may begin, and returns
// their number. They are the positions that the fewest bytes cross, ordered by how often these are
// read.
int block_rotations(const Finder *f, const Run *r, int *offset, int most);

// Are iterations k and k + 1 isomorphic, in a class that begins with s->first?
bool block_matches(const Finder *f, Series *s, int k);

// Do two nodes have the same attributes, affine ones included?
bool block_same_attrs(const Node *a, const Node *b);

// Is a class worth a loop? It needs a matrix product: a loop over a few additions gains nothing.
bool block_is_worth(const Finder *f, const Series *s);

// Sets f->readers from f->order.
void block_find_readers(Finder *f);

// Does the graph have all nodes of one more iteration before the first one of the class?
bool block_has_before(const Finder *f, const Found *c);

// Adds to a class all iterations before its first one that the graph has; moves their nodes there.
void block_grow_back(Finder *f, int32_t cls);

// Adds to all classes the nodes that read each iteration's values equally: nodes that stack them,
// side results.
void block_grow_out(Finder *f);

#endif
