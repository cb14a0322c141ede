// What files of ir/ share and other stages don't see.
#ifndef SHARDCC_IR_INTERNAL_H
#define SHARDCC_IR_INTERNAL_H

#include "ir/build.h"
#include "ir/ir.h"

enum {
    MAX_INPUTS = 1 << 16,
    MAX_NODES = 1 << 22,
    MAX_VALUES = 1 << 22,
    MAX_CONSTANT_BYTES = 1 << 20,
};

// ---- shape inference (ops) ----
bool infer_like(Graph *g, Node *n, Diag *d);        // all inputs alike; the output too
bool infer_float_like(Graph *g, Node *n, Diag *d);  // … and of a float dtype
bool infer_compare(Graph *g, Node *n, Diag *d);  // all inputs alike; the output BOOL of that shape
bool infer_logical(Graph *g, Node *n, Diag *d);  // all inputs BOOL and alike; the output too
// Sets output i's dtype and dims after checking that their product is in bounds (2^48 elements).
bool infer_set(Graph *g, Node *n, int i, DType t, int rank, const int64_t *dim, Diag *d);
// Is this a shape that a value may have? If not, what is wrong with it.
const char *shape_problem(int rank, const int64_t *dim);

// ---- rules ----
void rule_elementwise(const Graph *g, const Node *n, Rule *r);  // "abc,abc->abc"

// ---- evaluation ----
// The next index of a row-major walk over dims; false at the end.
bool index_next(int64_t *index, int rank, const int64_t *dim);
int64_t index_at(const int64_t *index, int rank, const int64_t *dim);  // its row-major place
// A number as an element of dtype `t`.
double round_float(DType t, double x);
int64_t wrap_int(DType t, int64_t x);     // the low bits
int64_t int_of_float(DType t, double x);  // truncated and clamped; NaN is 0; BOOL: x != 0
double float_of_int(DType t, int64_t x);  // U64 is unsigned

// ---- nodes and values ----
bool input_is_optional(const OpDef *op, int i);
const char *type_text(Arena *a, const Value *v);               // "f32[4,16]"
const char *value_label(Arena *a, const Graph *g, ValueId v);  // its name, or "v12"
bool same_shape(const Value *a, const Value *b);
bool same_own(const Value *a, const Value *b);   // the shapes that the user knows
bool same_type(const Value *a, const Value *b);  // dtype and shape

enum { N_LETTERS = 128 };  // arrays by letter of an einsum text

#endif
