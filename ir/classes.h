// The nodes of block classes by iteration and position, for passes that make or copy labels.
#ifndef SHARDCC_IR_CLASSES_H
#define SHARDCC_IR_CLASSES_H

#include "ir/internal.h"

typedef struct ClassNodes {
    int length, n_pos;
    NodeId *node;  // [iter * n_pos + pos]
} ClassNodes;

// The labelled nodes of each class; an array by class in `a`.
ClassNodes *class_nodes(Arena *a, const Graph *g);

// The instance of `n` in iteration `iter`; 0 if there is none.
NodeId class_instance(const ClassNodes *classes, const Node *n, int iter);

// An iteration of n's class other than n's: the next one, or the one before if n's is the last.
int class_other(const ClassNodes *classes, const Node *n);

// Marks a class as dropped; class_compact then clears its labels.
void class_drop(Graph *g, int32_t cls);

// Clears the labels of classes whose iterations are not isomorphic, with a warning: they "have
// different gradients" or the like. The graph is right, but they are no loop.
void class_drop_unlike(Graph *g, const char *what, Diag *d);

#endif
