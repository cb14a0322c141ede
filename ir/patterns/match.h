// What patterns share: questions about the old graph, and views. A pattern looks at the graph
// before the pass and builds in the graph after it.
#ifndef SHARDCC_IR_PATTERNS_MATCH_H
#define SHARDCC_IR_PATTERNS_MATCH_H

#include "ir/atoms.h"
#include "ir/fold.h"

typedef struct Match {
    const Graph *g;          // before
    Rewrite *r;              // r->to: after; r->map: what the values of g are in it
    const int32_t *uses;     // by ValueId: readers in g, outputs and carries
    const bool *is_learned;  // by ValueId: does it depend on a parameter?
    Folder *facts;           // what is known of g's values by their indices: masks
    Arena *arena;
} Match;

// A pattern: if node n ends what it looks for, builds that anew, maps n's outputs and says true.
typedef bool Pattern(const Match *m, const Node *n);
Pattern match_attention, match_norm, match_rotary;

// The node that makes v if its operator is `op`; NULL if not.
const Node *made_by(const Match *m, ValueId v, const OpDef *op);
bool is_number(const Match *m, ValueId v, double x);  // is v everywhere x?
// Is v = a op b with a number as b (for mul and add on either side)? Then *x is a.
bool made_with_number(const Match *m, ValueId v, const OpDef *op, ValueId *x, double *number);
// Is v the square of *x, by mul or pow?
bool is_square(const Match *m, ValueId v, ValueId *x);
// Is v a reduction of *x along the dims *axes (n of them) …
bool is_reduced(const Match *m, ValueId v, const OpDef *op, ValueId *x, const Attr **axes);
bool is_mean(const Match *m, ValueId v, ValueId *x, const Attr **axes);
// … and is v such a reduction s, repeated along the dims that it lost?
bool is_spread(const Match *m, ValueId v, const Attr *axes, ValueId *s);
bool same_axes(const Attr *a, const Attr *b);
// Maps n's output to v, which takes its name; false if v is 0.
bool replace(const Match *m, const Node *n, ValueId v);
// v in the new graph.
static inline ValueId now(const Match *m, ValueId v) { return m->r->map[v]; }

// ---- views (view.c): a value as another one's elements, rearranged ----
typedef struct View {
    ValueId base;
    int base_rank, rank;
    int32_t base_dim[MAX_RANK];  // terms of the base's dims
    int32_t dim[MAX_RANK];  // … of the value's: made of those, or new where it repeats the base
    double scale;           // the value is the base times this
} View;

// Sees v through reshapes and transposes and what else `through` says. False if dims don't fit.
enum { THROUGH_BROADCAST = 1, THROUGH_SCALE = 2 };
bool view_of(const Match *m, Relation *r, ValueId v, unsigned through, View *w);
// From the terms y of the dims of a reshape's, transpose's or broadcast's output those of its
// input, x. False if the node is another one or dims don't fit.
bool view_through(const Match *m, Relation *r, const Node *n, const int32_t *y, int32_t *x);
// The base in the new graph, over its atoms; their terms are in `leaf`. 0: they are too many.
ValueId view_build(const Match *m, Relation *r, const View *w, int *n, int32_t *leaf);

#endif
