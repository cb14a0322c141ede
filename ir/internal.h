// What files of ir/ share and other stages don't see.
#ifndef SHARDCC_IR_INTERNAL_H
#define SHARDCC_IR_INTERNAL_H

#include "ir/build.h"
#include "ir/ir.h"

// ---- shape inference (ops) ----
bool infer_like(Graph *g, Node *n, Diag *d);       // all inputs alike; the output too
bool infer_float_like(Graph *g, Node *n, Diag *d); // … and of a float dtype
bool infer_compare(Graph *g, Node *n, Diag *d);    // all inputs alike; the output BOOL of that shape
bool infer_logical(Graph *g, Node *n, Diag *d);    // all inputs BOOL and alike; the output too
// Sets output i's dtype and dims after checking that their product is in bounds (2^48 elements).
bool infer_set(Graph *g, Node *n, int i, DType t, int rank, const int64_t *dim, Diag *d);

// ---- rules ----
void rule_elementwise(const Graph *g, const Node *n, Rule *r);  // "abc,abc->abc"

// ---- evaluation ----
// The next index of a row-major walk over dims; false at the end.
bool index_next(int64_t *index, int rank, const int64_t *dim);
int64_t index_at(const int64_t *index, int rank, const int64_t *dim);  // its row-major place

#endif
