// Code that grid_sample and its two gradients share.
#ifndef SHARDCC_IR_GRID_H
#define SHARDCC_IR_GRID_H

#include "ir/operator/operator.h"
#include "runtime/rt_grid.h"

// The operands: x [n, c, spatial…], grid [n, points…, spatial dims], y [n, c, points…]. Each of the
// operators makes one of them, or its gradient, from others; `parts` says which ones a node's
// inputs and its output are.
typedef enum GridPart { GRID_X, GRID_GRID, GRID_Y } GridPart;

// Attributes mode, padding and corners, from index `first` on.
#define GRID_ATTRS                                                                                 \
    {"mode", ATTR_TEXT}, {"padding", ATTR_TEXT}, { "corners", ATTR_INT }

bool infer_grid(Graph *g, Node *n, const GridPart *parts, int first, Diag *d);
void rule_grid(const Graph *g, const Node *n, const GridPart *parts, Rule *r);
double work_grid(const Graph *g, const Node *n, const GridPart *parts, int first);
void kernel_grid(const Graph *g, const Node *n, const GridPart *parts, int first,
                 const int64_t (*stride)[MAX_RANK], Kernel *k);
#define GRID_NO_SPLIT "spatial dims, because a point may be anywhere; the coordinates of a point"

Sampling grid_sampling(const Node *n, int first);

// The points of a node, one by one. `taps` is how many elements each reads: `at` is the index of
// one in a plane of x (-1: outside), and slope[i] the derivative of its weight by coordinate i of
// the grid's last dim.
typedef struct GridPoint {
    int spatial, taps;
    int64_t planes, plane, count;  // planes of a sample and their elements; points of a sample
    int64_t at[64];
    double weight[64], slope[3][64];
} GridPoint;
GridPoint grid_points(const Node *n, int first, const Tensor *x, const Tensor *grid);
// Sets the taps of point `i`, counted over all samples. x is any tensor of x's dims.
void grid_point(GridPoint *p, const Node *n, int first, const Tensor *x, const Tensor *grid,
                int64_t i);

#endif
