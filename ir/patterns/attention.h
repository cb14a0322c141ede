// The state of the attention pattern, which its files fill in part by part.
#ifndef SHARDCC_IR_PATTERNS_ATTENTION_H
#define SHARDCC_IR_PATTERNS_ATTENTION_H

#include "ir/patterns/match.h"

typedef struct Found {
    const Match *m;
    Relation r;
    View q, k, v;
    ValueId inside;         // the scores; moves from the softmax back to the first product
    int32_t dim[MAX_RANK];  // the terms of its dims
    int32_t key;            // the term of the dim that the softmax sums over
    double scale;
    // Masks known by indices: query s sees key t if low ≤ t - s ≤ high.
    int64_t low, high;
    int32_t query;  // the term of s; 0: there is no such mask
    // At most one other mask: added to the scores, or (`keeps`) true where scores stay; false there
    // if `is_inverted`.
    View bias;
    bool has_bias, keeps, is_inverted;
    int n_parts;                 // how many parts of masks were looked at
    Dropout drop;                // on the weights; micro_axis is a dim of the random numbers
    int drop_rank;               // the rank of the random numbers
    int32_t drop_dim[MAX_RANK];  // the terms of their dims
} Found;

enum { MASK_UNBOUNDED = 1 << 30 };  // no limit: low = -MASK_UNBOUNDED or high = MASK_UNBOUNDED

// The root of t if t is one atom; 0 if it is several or has size 1.
int32_t leaf_of(Relation *r, int32_t t);

// ---- attention_mask.c ----
bool masks(const Match *m, ValueId v);  // is v a number that exporters mask with?
// Adds mask `v` of f->inside. keeps: v is true where scores stay (false there if is_inverted); else
// v is added to the scores. False if v can't be an operand or attribute of attention.
bool add_mask(Found *f, ValueId v, bool keeps, bool is_inverted);

// ---- attention_build.c ----
// Builds the attention node in place of the second product n, whose dims have the terms `dim`.
// False if the operands have dims in roles that attention doesn't know.
bool attention_build(Found *f, const Node *n, const int32_t *dim);

#endif
