// What the files of the blocks pass share.
#ifndef SHARDCC_IR_BLOCKS_H
#define SHARDCC_IR_BLOCKS_H

#include "ir/canonical.h"

// Where a value without producer is read, in the canonical order.
typedef struct Readers {
    int first, last;  // 1 + index of the node; 0: none
    int slot;         // input of the first one
} Readers;

// A class that was found: its iterations one behind the other in the canonical order.
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
    int *place;        // by NodeId: index in `order`
    Readers *readers;  // by ValueId
    Block *block;      // by index in `order`
    int *last_reader;  // by ValueId: of block_rotation's own
    // By ValueId, of block_matches' own: the value that the first iteration reads in place of this
    // one of a neighbour that isn't there. A loop has one place for it.
    ValueId *stand_in;
    Run *heap;         // runs that may become classes, the most saving first
    int n_heap, cap_heap;
    Found *found;  // by class
    int n_found, cap_found;
} Finder;

// Iterations that may become a class.
typedef struct Series {
    int begin, period;  // iteration k is [begin + k · period, begin + (k + 1) · period)
    int first;          // iteration: the one that the class would begin with
    bool is_chained;    // a later one reads what an earlier one made
} Series;

// Sets `offset` to up to `most` places in a run at which iterations may begin: those that hand on
// the fewest bytes, the more natural ones first. Returns how many.
int block_rotations(const Finder *f, const Run *r, int *offset, int most);

// Are iterations k and k + 1 alike, in a class that begins with s->first?
bool block_matches(const Finder *f, Series *s, int k);

// Have two nodes the same attributes, affine ones included?
bool block_same_attrs(const Node *a, const Node *b);

// A loop over a few additions is no block: there must be a matrix product in it.
bool block_is_worth(const Finder *f, const Series *s);

// Sets f->readers by the order.
void block_find_readers(Finder *f);

// Are all nodes of an iteration before the first one in the graph?
bool block_has_before(const Finder *f, const Found *c);

// Adds to a class the iterations before its first one that are in the graph, and moves them there.
void block_grow_back(Finder *f, int32_t cls);

// Adds to all classes what reads every iteration's values alike: what stacks them, side results.
void block_grow_out(Finder *f);

#endif
