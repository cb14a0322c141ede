// Questions about a graph, and views, for patterns. A pattern reads the graph before the pass and
// builds in the graph after it.
#ifndef SHARDCC_IR_PATTERNS_MATCH_H
#define SHARDCC_IR_PATTERNS_MATCH_H

#include "ir/operator/atoms.h"
#include "ir/passes/fold/fold.h"

typedef struct Match {
    const Graph *g;          // the graph before the pass
    Rewrite *r;              // r->to: the graph after it; r->map: by ValueId of g, the value in it
    const int32_t *uses;     // by ValueId: how many nodes, outputs and carries read it
    const bool *is_learned;  // by ValueId: does a gradient flow from it to a parameter?
    Folder *facts;           // the facts of g's values, for masks
    Arena *arena;
} Match;

// A pattern. If node n is the last one of its form, builds the new form, maps n's outputs to it and
// returns true.
typedef bool Pattern(const Match *m, const Node *n);
Pattern match_attention, match_norm, match_rotary;
// Rewrites the graph by the first of n patterns that matches, for each node.
bool patterns_apply(Graph *g, Pattern *const *patterns, int n, Diag *d);

// The node that makes v if its operator is `op`, else NULL.
const Node *made_by(const Match *m, ValueId v, const OpDef *op);
// The value whose gradient is stopped to give v, or v itself. For forms that have the same gradient
// with and without the stop.
ValueId without_stop(const Match *m, ValueId v);
bool is_number(const Match *m, ValueId v, double x);  // is v everywhere x?
// Is v = a op b, where b (for mul and add either one) is one number everywhere? Then *x is a.
bool made_with_number(const Match *m, ValueId v, const OpDef *op, ValueId *x, double *number);
// Is v the square of *x, by mul or pow?
bool is_square(const Match *m, ValueId v, ValueId *x);
// Is v a reduction by `op`? Then it reduces *x along the dims *axes.
bool is_reduced(const Match *m, ValueId v, const OpDef *op, ValueId *x, const Attr **axes);
bool is_mean(const Match *m, ValueId v, ValueId *x, const Attr **axes);
// Is v a broadcast of *s along the dims `axes`, which a reduction to *s has dropped?
bool is_spread(const Match *m, ValueId v, const Attr *axes, ValueId *s);
bool same_axes(const Attr *a, const Attr *b);
// Is v = exp(x - max x) / Σ exp(x - max x), with the maximum perhaps rounded down, and no part of
// it read elsewhere? Then sets *x and *axis.
bool softmax_of(const Match *m, ValueId v, ValueId *x, int *axis);
// Returns p if v = select(is_nan(p), 0, p), else v.
ValueId without_guard(const Match *m, ValueId v);
// Maps n's output to v, which gets its name. False if v is 0.
bool replace(const Match *m, const Node *n, ValueId v);
// The value of v in the new graph.
static inline ValueId now(const Match *m, ValueId v) { return m->r->map[v]; }

// ---- views (view.c): a value as the rearranged elements of another one, its base ----
typedef struct View {
    ValueId base;
    int base_rank, rank;
    int32_t base_dim[MAX_RANK];  // the terms of the base's dims
    int32_t dim[MAX_RANK];  // the terms of the value's dims; new ones where it repeats the base
    double scale;           // value = base · scale
} View;

// Sets *w to v seen through reshapes, transposes and the other nodes that `through` allows. False
// if dims don't fit.
enum { THROUGH_BROADCAST = 1, THROUGH_SCALE = 2 };
bool view_of(const Match *m, Relation *r, ValueId v, unsigned through, View *w);
// Sets x to the terms of the dims of n's input, given the terms y of its output's dims. False if n
// isn't a reshape, transpose or broadcast, or if dims don't fit.
bool view_through(const Match *m, Relation *r, const Node *n, const int32_t *y, int32_t *x);
// Builds the base in the new graph with its *n atoms for dims; `leaf` gets their terms. 0: there
// are too many atoms.
ValueId view_build(const Match *m, Relation *r, const View *w, int *n, int32_t *leaf);

#endif
