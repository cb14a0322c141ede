// Adds up the gradients that a value gets from its users. The order and the block labels of the
// additions keep the iterations of a block class isomorphic.
#ifndef SHARDCC_IR_ADJOINT_H
#define SHARDCC_IR_ADJOINT_H

#include "ir/classes.h"

// The sums of the gradients that one value got so far, one sum per kind of user. Users are visited
// from last to first. A sum is 0 if there is none.
typedef struct Sums {
    ValueId local;    // the running sum of gradients that go to none of the others
    ValueId carried;  // from iteration 0 of a class whose other iterations read the one before
    ValueId chain;    // the running sum over the iterations of a class that all read the value
    ValueId leaked;   // from a node outside that reads the value's instances in several iterations
    int slice;        // the last entry in Adjoint.slices; 0: none
} Sums;

// A gradient that is zero except for a range of one dim of the value.
typedef struct Slice {
    ValueId part, padded;  // the range alone; with the zeros around it
    int axis;
    int64_t low;  // where the range begins
    Block block;  // of the user that gives the gradient
    int next;     // entry of the same value in Adjoint.slices; 0: none
} Slice;

typedef struct Adjoint {
    Graph *g;
    const ClassNodes *classes;
    Sums *sums;     // by ValueId of the forward graph
    bool *returns;  // by ValueId: its instances get a gradient from their next iteration
    Slice *slices;  // [0] is unused
    int n_slices, cap_slices;
} Adjoint;

// Adds `dx`, the gradient that forward node `n` gives its input `i`. Nodes from `first` on were
// made for it.
void adjoint_add(Adjoint *a, const Node *n, int i, ValueId dx, NodeId first);

// Returns the whole gradient of `v`; 0: none. All users of `v` must have been visited.
ValueId adjoint_take(Adjoint *a, ValueId v);

#endif
