// Dims as products of atoms: what an operator's file says to ir/refine.c about its dims.
#ifndef SHARDCC_IR_ATOMS_H
#define SHARDCC_IR_ATOMS_H

#include "ir/internal.h"

// A dim, or a part of one. The members are those of a root.
typedef struct Term {
    int64_t size;
    int32_t up;            // the term that it is one with; 0: it is a root
    int32_t outer, inner;  // what it is the product of; 0: it is a leaf
    bool is_whole;         // never to be split; of size 1: never to be dropped
} Term;

// How all dims hang together. The functions relate_* are for OpDef.relate: they say more of `node`
// than its rule does. Operands are inputs, then outputs.
typedef struct Relation {
    Arena *arena;
    const Node *node;
    int32_t *first;  // by ValueId: the term of its dim 0; those of the other dims follow
    Term *terms;     // [0] is unused
    int n_terms, cap_terms;
    bool only_whole;  // first round: only relate_whole counts, so that it comes before all splits
    bool changed;
} Relation;

int32_t term_new(Relation *r, int64_t size);
int32_t term_of(Relation *r, int operand, int dim);
void term_keep(Relation *r,
               int32_t t);  // never to be split, nor dropped; unless it is split already
// Makes two terms of one size one. False if they are split in ways that don't fit.
bool term_join(Relation *r, int32_t a, int32_t b);
// … two sequences of terms of one product. Does nothing if they can't be.
bool terms_join(Relation *r, int n_a, const int32_t *a, int n_b, const int32_t *b);
// The roots of t's atoms of size ≠ 1: at most `max` are set, all are counted.
int term_leaves(Relation *r, int32_t t, int32_t *leaf, int max);
// The sizes of t's atoms, without droppable ones of size 1: at most `max` are set, all are counted.
int term_sizes(Relation *r, int32_t t, int64_t *size, int max);

void relate_whole(Relation *r, int operand, int dim);  // this dim is not to be split or dropped
// If all of this dim is an inner part, as relate_inner makes them, it has a dim of size 1 before
// it.
void relate_unit(Relation *r, int operand, int dim);
// Dims a0 … a1-1 of operand a and b0 … b1-1 of operand b are the same elements in the same order.
void relate_products(Relation *r, int a, int a0, int a1, int b, int b0, int b1);
// The inner `size` elements of two dims are one where they are cut; `cut` says to cut them there.
// `size` divides both dims; an inner part that divides it will do where they can't be cut.
void relate_inner(Relation *r, int a, int a_dim, int b, int b_dim, int64_t size, bool cut);

// A value's dims over atoms: what was dim i are the dims first[i] … first[i + 1] - 1.
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

bool refined_equal(const Refined *x, const Refined *y);  // have both the same dims?

// For OpDef.split: writes the dims `dims` of v over atoms; returns how many there are.
int split_dims(const Refined *v, int n, const int64_t *dims, int64_t *split);

// For OpDef.split: an equation's operands over atoms, in `text`. dims[i] are the letters of operand
// operand[i]; a letter whose dim is split becomes several. False if the operands don't agree or the
// letters run out.
bool split_letters(const Split *s, int n, const char *const *dims, const int *operand,
                   char (*text)[MAX_RANK + 1]);

// The OpDef.split of reductions, whose first attribute is the axes.
ValueId split_reduce(Graph *g, const Node *n, const Split *s);

#endif
