// Minimum cuts of directed graphs with capacities (Dinic 1970: a blocking flow of shortest
// augmenting paths for each path length).
#ifndef SHARDCC_LOWER_CUT_H
#define SHARDCC_LOWER_CUT_H

#include "base/base.h"

typedef struct CutEdge {
    int to, next;
    int64_t residual;  // what can still flow; edge i ^ 1 is its reverse
} CutEdge;

typedef struct Cut {
    Arena *arena;
    int n_nodes;
    int *head;  // by node: its last edge, -1: none
    CutEdge *edges;
    int n_edges, cap_edges;
} Cut;

#define CUT_INFINITE (INT64_MAX / 4)  // capacity of an edge that no finite cut holds

Cut cut_new(Arena *a, int n_nodes);
void cut_edge(Cut *c, int from, int to, int64_t capacity);

// Returns the cut's capacity and sets by node whether it is on the sink's side. Of all minimum cuts
// it gives the one next to the sink. At least one finite cut must exist.
int64_t cut_solve(Cut *c, int source, int sink, bool *is_sink_side);

#endif
