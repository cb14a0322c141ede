// Dims as products of atoms. An operator's file tells ir/passes/refine.c by these functions which
// of its dims are the same.
#ifndef SHARDCC_IR_ATOMS_H
#define SHARDCC_IR_ATOMS_H

#include "ir/internal.h"

// A dim, or a part of one. Terms that are the same form a tree (union-find); members other than
// `up` are valid in its root.
typedef struct Term {
    int64_t size;
    int32_t up;            // the parent in the tree; 0: it is a root
    int32_t outer, inner;  // the two terms whose product it is; 0: it is a leaf, an atom
    bool is_whole;         // must not be split; of size 1: must not be dropped
} Term;

// The terms of all dims of a graph. OpDef.relate calls the functions relate_* to relate the dims of
// `node`. Operands are inputs, then outputs.
typedef struct Relation {
    Arena *arena;
    const Node *node;
    int32_t *first;  // by ValueId: the term of its dim 0; the terms of the other dims follow
    Term *terms;     // [0] is unused
    int n_terms, cap_terms;
    bool only_whole;  // first round: only relate_whole has effect, so that it precedes all splits
    bool changed;
} Relation;

int32_t term_new(Relation *r, int64_t size);
int32_t term_of(Relation *r, int operand, int dim);
void term_keep(Relation *r, int32_t t);  // forbids to split or drop it; no effect if it is split
// Makes two terms of equal size the same. False if they are split at other positions.
bool term_join(Relation *r, int32_t a, int32_t b);
// Makes two sequences of terms the same; both have the same product. False if their splits don't
// fit.
bool terms_join(Relation *r, int n_a, const int32_t *a, int n_b, const int32_t *b);
// Sets `leaf` to the roots of t's atoms of size ≠ 1, at most `max` of them. Returns their number.
int term_leaves(Relation *r, int32_t t, int32_t *leaf, int max);
// Sets `size` to the sizes of t's atoms, at most `max` of them, without atoms of size 1 that may be
// dropped. Returns their number.
int term_sizes(Relation *r, int32_t t, int64_t *size, int max);

void relate_whole(Relation *r, int operand, int dim);  // forbids to split or drop this dim
// Keeps the outer part of size 1 of a dim that relate_inner made all inner part.
void relate_unit(Relation *r, int operand, int dim);
// Dims a0 … a1-1 of operand a and b0 … b1-1 of operand b are the same elements in the same order.
void relate_products(Relation *r, int a, int a0, int a1, int b, int b0, int b1);
// Relates the inner parts of `size` elements of two dims; `size` divides both dims. `cut`: splits
// the dims there; else only existing splits are used. Where a dim can't be split at `size`, the
// largest inner part is taken that divides `size` and where one of the dims is split.
void relate_inner(Relation *r, int a, int a_dim, int b, int b_dim, int64_t size, bool cut);

// A value's dims over atoms: old dim i became the dims first[i] … first[i + 1] - 1.
typedef struct Refined {
    int rank;
    int64_t dim[MAX_RANK];
    int8_t first[MAX_RANK + 1];
} Refined;

// A node whose operands (inputs, then outputs) are over atoms.
struct Split {
    const ValueId *in;  // in the new graph
    const Refined *operand;
};

bool refined_equal(const Refined *x, const Refined *y);  // do both have the same dims?

// For OpDef.split: translates a list of `n` dims of v to its dims over atoms; returns their number.
int split_dims(const Refined *v, int n, const int64_t *dims, int64_t *split);

// For OpDef.split: sets text[i] to the letters of operand operand[i] over atoms, given its letters
// dims[i] before. A letter whose dim is split becomes several letters. False if the operands don't
// agree or the letters run out.
bool split_letters(const Split *s, int n, const char *const *dims, const int *operand,
                   char (*text)[MAX_RANK + 1]);

// The OpDef.split of reductions, whose first attribute is the axes.
ValueId split_reduce(Graph *g, const Node *n, const Split *s);

#endif
