// Limits and helpers that the files of ir/ share and other stages don't see.
#ifndef SHARDCC_IR_INTERNAL_H
#define SHARDCC_IR_INTERNAL_H

#include "ir/build.h"
#include "ir/ir.h"

enum {
    MAX_INPUTS = 1 << 16,
    MAX_NODES = 1 << 22,
    MAX_VALUES = 1 << 22,
    MAX_CONSTANT_BYTES = 1 << 20,
    MAX_AGAIN = 1 << 10,
};

// ---- shape inference (ops) ----
bool infer_like(Graph *g, Node *n, Diag *d);        // inputs and output have one dtype and shape
bool infer_float_like(Graph *g, Node *n, Diag *d);  // infer_like with a float dtype
bool infer_int_like(Graph *g, Node *n, Diag *d);    // infer_like with a dtype of integers
bool infer_compare(Graph *g, Node *n, Diag *d);     // inputs of one type; output BOOL of that shape
bool infer_logical(Graph *g, Node *n, Diag *d);     // infer_like with BOOL
// Checks that the product of the dims is in bounds (2^48 elements); sets output i's dtype and dims.
bool infer_set(Graph *g, Node *n, int i, DType t, int rank, const int64_t *dim, Diag *d);
// NULL if a value may have this shape; else the problem, as the end of a message.
const char *shape_problem(int rank, const int64_t *dim);

// ---- rules ----
void rule_elementwise(const Graph *g, const Node *n, Rule *r);  // "abc,abc->abc"

// ---- evaluation ----
// Sets the constants, and the states, zeros and hypers that the caller left, as graph_eval does.
void graph_fill(Arena *a, const Graph *g, Tensor *values);
// Moves `index` to the next one in row-major order; false at the end.
bool index_next(int64_t *index, int rank, const int64_t *dim);
int64_t index_at(const int64_t *index, int rank, const int64_t *dim);  // its row-major index
// Conversions of a number to an element of dtype `t`.
double round_float(DType t, double x);
int64_t wrap_int(DType t, int64_t x);     // the low bits
int64_t int_of_float(DType t, double x);  // truncated and clamped; NaN is 0; BOOL: x != 0
double float_of_int(DType t, int64_t x);  // U64 is unsigned

// ---- nodes and values ----
// By ValueId: does an output or a carry need the value, directly or through nodes?
bool *graph_needed(Arena *a, const Graph *g);
bool attr_equal(const AttrDef *def, const Attr *a, const Attr *b);
uint64_t hash_attr(const AttrDef *def, const Attr *a, uint64_t h);
bool input_is_optional(const OpDef *op, int i);
const char *type_text(Arena *a, const Value *v);               // "f32[4,16]"
const char *value_label(Arena *a, const Graph *g, ValueId v);  // its name, or "v12"
bool same_shape(const Value *a, const Value *b);
bool same_own(const Value *a, const Value *b);   // the shapes that the user sees
bool same_type(const Value *a, const Value *b);  // dtype and shape
// By ValueId: does a gradient flow from it to a parameter?
bool *graph_learned(Arena *a, const Graph *g);

// The accumulator that OUTPUT_LOSS_COUNT is summed in over micro-batches.
#define LOSS_COUNT_TOTAL "loss.count"

enum { N_LETTERS = 128 };  // length of arrays that are indexed by a letter of an einsum text

#endif
