// The nodes of block classes by iteration and position, for passes that make or copy labels.
#ifndef SHARDCC_IR_CLASSES_H
#define SHARDCC_IR_CLASSES_H

#include "ir/internal.h"

typedef struct ClassNodes {
    int length, n_pos;
    NodeId *node;  // [iter * n_pos + pos]
} ClassNodes;

// The labelled nodes of each class; an array by class in `a`.
ClassNodes *class_nodes(const Graph *g, Arena *a);

// The instance of `n` in iteration `iter`; 0 if there is none.
NodeId class_instance(const ClassNodes *classes, const Node *n, int iter);

// An iteration of n's class other than n's: the next one, or the one before if n's is the last.
int class_other(const ClassNodes *classes, const Node *n);

// Marks a class as dropped; class_compact then clears its labels.
void class_drop(Graph *g, int32_t cls);

// Moves the iterations of `cls` from `first` on to a new class.
void class_split(Graph *g, int32_t cls, int first);

// Clears the labels of classes with less than two iterations and renumbers the others.
void class_compact(Graph *g);

#endif
