// What the parts of the attention pattern share.
#ifndef SHARDCC_IR_PATTERNS_ATTENTION_H
#define SHARDCC_IR_PATTERNS_ATTENTION_H

#include "ir/patterns/match.h"

typedef struct Found {
    const Match *m;
    Relation r;
    View q, k, v;
    ValueId inside;         // the scores' place on the way from the softmax to the product
    int32_t dim[MAX_RANK];  // terms of its dims
    int32_t key;            // term of the dim that the softmax sums over
    double scale;
    // Masks: low ≤ t - s ≤ high …
    int64_t low, high;
    int32_t query;  // … for this term of s; 0: there is none
    // … and at most one other one: added, or selecting (`keeps`; the others, if `is_inverted`).
    View bias;
    bool has_bias, keeps, is_inverted;
    int n_parts;   // of masks looked at
    Dropout drop;  // on the weights; micro_axis is the dim of the random numbers …
    int drop_rank;
    int32_t drop_dim[MAX_RANK];  // … which have these terms
} Found;

enum { MASK_UNBOUNDED = 1 << 30 };  // low = -FAR, high = FAR: no limit

// The atom that t is; 0 if it is several or of size 1.
int32_t leaf_of(Relation *r, int32_t t);

// ---- attention_mask.c ----
bool masks(const Match *m, ValueId v);  // is v a number that exporters mask with?
// Adds a mask on f->inside: `keeps`: true (false, if is_inverted) where scores stay; else what is
// added to them. False if it can't be an operand or attribute of attention.
bool add_mask(Found *f, ValueId v, bool keeps, bool is_inverted);

// ---- attention_build.c ----
// Builds the node in place of the second product n, whose dims have the terms `dim`. False if its
// operands don't go together as attention wants them.
bool attention_build(Found *f, const Node *n, const int32_t *dim);

#endif
