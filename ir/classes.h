// Nodes of block classes by iteration and position, for the passes that make or copy labels.
#ifndef SHARDCC_IR_CLASSES_H
#define SHARDCC_IR_CLASSES_H

#include "ir/internal.h"

typedef struct ClassNodes {
    int length, n_pos;
    NodeId *node;  // [iter * n_pos + pos]
} ClassNodes;

// One per class of the graph, of the labelled nodes.
ClassNodes *class_nodes(const Graph *g, Arena *a);

// The node that stands at iteration `iter` where `n` stands in its own; 0 if there is none.
NodeId class_instance(const ClassNodes *classes, const Node *n, int iter);

// Another iteration than that of `n` in its class: the next one, or for the last the one before.
int class_other(const ClassNodes *classes, const Node *n);

// Lets a class go: class_compact takes its labels away.
void class_drop(Graph *g, int32_t cls);

// Makes the iterations of `cls` from `first` on a class of their own.
void class_split(Graph *g, int32_t cls, int first);

// Drops the labels of classes with less than two iterations, renumbers the others.
void class_compact(Graph *g);

#endif
