// Sums of the gradients that flow into a value from its users, in an order and with labels that
// leave the iterations of a block class alike.
#ifndef SHARDCC_IR_ADJOINT_H
#define SHARDCC_IR_ADJOINT_H

#include "ir/classes.h"

// What came from where, by ValueId. Users are visited latest first.
typedef struct Sums {
    ValueId local;    // running sum of all that isn't in one of the others
    ValueId carried;  // from iteration 0 of a class that the value enters, as neighbour's value
    ValueId chain;    // running sum over the iterations of a class that share the value
    ValueId leaked;   // from a node outside that reads this value of every iteration of a class
    int slice;        // last entry in `pieces`, 0: none
} Sums;

// A gradient that covers a part of one dim of the value.
typedef struct Slice {
    ValueId part, padded;
    int axis;
    int64_t low;
    Block block;
    int next;
} Slice;

typedef struct Adjoint {
    Graph *g;
    const ClassNodes *classes;
    Sums *sums;     // by ValueId of the forward graph
    bool *returns;  // by ValueId: at a place whose gradient comes from the next iteration
    Slice *slices;  // [0] is unused
    int n_slices, cap_slices;
} Adjoint;

// Adds `dx`, made for input `i` of forward node `n` by nodes from `first` on.
void adjoint_add(Adjoint *a, const Node *n, int i, ValueId dx, NodeId first);

// The whole gradient of `v`, 0 if there is none; once all its users were visited.
ValueId adjoint_take(Adjoint *a, ValueId v);

#endif
